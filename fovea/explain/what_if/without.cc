#include "fovea/explain/what_if/without.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

namespace {

bool is_special(const Axis& axis, int64_t unit) {
  return std::ranges::find(axis.special, unit) != axis.special.end();
}

const Axis& find_axis(const Example& example, const std::string& name) {
  for (const Axis& axis : example.axes)
    if (axis.name == name && !axis.output) return axis;
  const std::vector<std::string> known = axes_with_units(example);
  fail(ErrorKind::InvalidArgument, "the input has no axis '", shorten_bytes(name, 64),
       "' whose units can be taken away", suggestion(name, known), known.empty() ? "" : "; it has ",
       join(known));
}

std::string named(const Axis& axis, int64_t unit) {
  return concat("'", shorten_bytes(axis.labels[size_t(unit)], 64), "' (#", unit + 1, ")");
}

void check_unit(const Axis& axis, int64_t unit) {
  const auto size = int64_t(axis.labels.size());
  require(unit >= 0 && unit < size, ErrorKind::InvalidArgument, "the axis '", axis.name, "' has ",
          size, size == 1 ? " unit" : " units", ", counted from 0; there is no unit ", unit);
  require(!is_special(axis, unit), ErrorKind::InvalidArgument, "the unit ", named(axis, unit),
          " of the axis '", axis.name,
          "' is no part of the input: the model adds it, so it cannot be taken away");
}

/// The place of a label that stands there once, or -1.
int64_t place_of(const Axis& axis, const std::string& label) {
  std::vector<std::string> places;
  int64_t found = -1;
  for (size_t i = 0; i < axis.labels.size(); ++i) {
    if (axis.labels[i] != label) continue;
    found = int64_t(i);
    places.push_back(concat("#", i + 1));
  }
  constexpr size_t kNamed = 5;
  const bool many = places.size() > kNamed;
  const size_t count = places.size();
  if (many) places.resize(kNamed);
  require(count < 2, ErrorKind::InvalidArgument, "'", shorten_bytes(label, 64), "' stands ", count,
          " times on the axis '", axis.name, "'; say which one: ", join(places), many ? ", …" : "");
  return found;
}

int64_t parse_unit(const std::string& text, const Axis& axis) {
  const int64_t labelled = place_of(axis, text);
  if (labelled >= 0) return labelled;
  const auto size = int64_t(axis.labels.size());
  int64_t number = 0;
  if (text.starts_with('#') && parse_integer(text.substr(1), number)) {
    require(number >= 1 && number <= size, ErrorKind::InvalidArgument, "the axis '", axis.name,
            "' has ", size, size == 1 ? " unit" : " units", ", #1 to #", size, "; there is no ",
            text);
    return number - 1;
  }
  const bool is_number = parse_integer(text, number) && number >= 1 && number <= size;
  fail(ErrorKind::InvalidArgument, "there is no unit '", shorten_bytes(text, 64), "' on the axis '",
       axis.name, "'",
       is_number ? concat("; the place is written #", number) : suggestion(text, axis.labels));
}

}  // namespace

std::vector<std::string> axes_with_units(const Example& example) {
  std::vector<std::string> names;
  for (const Axis& axis : example.axes)
    if (!axis.output && axis.labels.size() > axis.special.size()) names.push_back(axis.name);
  return names;
}

void check_axis(const Example& example, const std::string& name) {
  find_axis(example, name);
}

void check_away(const Example& example, std::span<const AxisUnits> away) {
  for (const AxisUnits& some : by_axis(away)) {
    const Axis& axis = find_axis(example, some.axis);
    std::vector<char> is_away(axis.labels.size(), 0);
    for (const int64_t unit : some.units) {
      check_unit(axis, unit);
      require(is_away[size_t(unit)] == 0, ErrorKind::InvalidArgument, "the unit ",
              named(axis, unit), " of the axis '", axis.name, "' stands there twice");
      is_away[size_t(unit)] = 1;
    }
    const size_t all = axis.labels.size() - axis.special.size();
    require(some.units.size() < all, ErrorKind::InvalidArgument, "all ", all,
            " units of the axis '", axis.name, "' are taken away; leave at least one");
  }
}

AxisUnits parse_away(const std::string& text, const Example& example) {
  const size_t colon = text.find(':');
  require(colon != std::string::npos && colon > 0 && colon + 1 < text.size(),
          ErrorKind::InvalidArgument, "'", shorten_bytes(text, 64),
          "': expected AXIS:UNIT,UNIT; the input has the axes ", join(axes_with_units(example)));
  const Axis& axis = find_axis(example, text.substr(0, colon));
  AxisUnits some{axis.name, {}};
  const std::string rest = text.substr(colon + 1);
  const bool is_one = std::ranges::find(axis.labels, rest) != axis.labels.end();  // may hold commas
  const std::vector<std::string> names = is_one ? std::vector{rest} : split(rest, ',');
  for (const std::string& name : names) some.units.push_back(parse_unit(name, axis));
  for (const int64_t unit : some.units) check_unit(axis, unit);
  return some;
}

std::vector<AxisUnits> by_axis(std::span<const AxisUnits> away) {
  std::vector<AxisUnits> joined;
  for (const AxisUnits& some : away) {
    const auto known = std::ranges::find(joined, some.axis, &AxisUnits::axis);
    AxisUnits& own = known != joined.end() ? *known : joined.emplace_back(AxisUnits{some.axis, {}});
    own.units.insert(own.units.end(), some.units.begin(), some.units.end());
  }
  return joined;
}

Example without_units(const Predictor& predictor, const Example& example,
                      std::span<const AxisUnits> away) {
  check_away(example, away);
  Example left = example;
  for (const AxisUnits& some : by_axis(away)) left = predictor.erase(left, some.axis, some.units);
  return left;
}

}  // namespace fovea
