#include "fovea/tasks/tune_space.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

namespace {

std::string type_of_option(const Setup& setup, const std::string& key) {
  for (const Option& option : setup.options().options())
    if (option.key() == key) return option.type();
  return "";
}

std::string value_at(const Tunable& tunable, double place, bool is_integer) {
  if (!tunable.values.empty()) return tunable.values[size_t(place)];
  const bool by_log = tunable.scale == Tunable::Scale::Log;
  const double value = by_log ? tunable.low * std::pow(tunable.high / tunable.low, place)
                              : tunable.low + place * (tunable.high - tunable.low);
  if (!is_integer) return format_number(value, 3);
  // Widths are cut into heads, and kernels like whole vectors.
  const double unit = tunable.high >= 32 ? 8 : 1;
  return concat(int64_t(std::max(unit, std::round(value / unit) * unit)));
}

}  // namespace

double number_of_option(const Setup& setup, const std::string& key) {
  for (const Option& option : setup.options().options())
    if (option.key() == key && option.value().is_number()) return option.value().get<double>();
  return 0;
}

Random draws_of_trial(uint64_t seed, int64_t number) {
  return Random(seed).split("tune").split(uint64_t(number));
}

double drawn_place(const Tunable& tunable, const Random& draws) {
  const double drawn = draws.split(tunable.key).uniform(0);
  if (tunable.values.empty()) return drawn;
  return std::floor(drawn * double(tunable.values.size()));
}

std::string drawn_value(const Setup& setup, const Tunable& tunable, const Random& draws) {
  return value_at(tunable, drawn_place(tunable, draws),
                  type_of_option(setup, tunable.key) == "integer");
}

std::vector<Tunable> usual_tunables(const Setup& setup) {
  std::vector<Tunable> found = setup.task().tunables();
  const auto around = [&](const char* key, double less, double more) {
    if (const double usual = number_of_option(setup, key); usual > 0)
      found.push_back({key, usual * less, usual * more, Tunable::Scale::Log});
  };
  around("training.learning_rate", 0.1, 5);
  if (type_of_option(setup, "training.weight_decay") == "number")
    found.push_back({"training.weight_decay", 1e-6, 0.1, Tunable::Scale::Log});
  if (type_of_option(setup, "model.dropout") == "number")
    found.push_back({"model.dropout", 0, 0.5});
  const std::string width = type_of_option(setup, "model.hidden");
  if (width == "integer") around("model.hidden", 0.5, 2);
  if (width == "list of integers")
    found.push_back({"model.hidden", 0, 0, {}, {"32", "64", "128", "256", "64,64", "128,128"}});
  return found;
}

Tunable parse_tunable(const std::string& text) {
  const auto [key, value] = split_assignment(text);
  const size_t dots = value.find("..");
  Tunable tunable{key};
  if (dots == std::string::npos) {
    int depth = 0;  // commas in brackets belong to one value
    tunable.values.emplace_back();
    for (const char letter : value) {
      depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
      if (letter == ',' && depth == 0)
        tunable.values.emplace_back();
      else
        tunable.values.back() += letter;
    }
    require(tunable.values.size() > 1, ErrorKind::InvalidArgument, "--vary ", text,
            ": expected several values, key=a,b,c, or a range, key=low..high");
    return tunable;
  }
  const bool are_numbers = parse_number(value.substr(0, dots), tunable.low) &&
                           parse_number(value.substr(dots + 2), tunable.high);
  require(are_numbers && tunable.low < tunable.high, ErrorKind::InvalidArgument, "--vary ", text,
          ": expected a range such as 0.001..0.1");
  if (tunable.low > 0 && tunable.high >= 10 * tunable.low) tunable.scale = Tunable::Scale::Log;
  return tunable;
}

}  // namespace fovea
