#include "fovea/tasks/run_card.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {
namespace {

/// A number that may be missing, as JSON has none for NaN.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

/// The name that people know the data by, not where it stands on this machine.
std::string data_name(const std::string& source) {
  const std::filesystem::path path = std::filesystem::path(source).lexically_normal();
  return path.filename().empty() ? path.parent_path().filename().string()
                                 : path.filename().string();
}

/// The epoch that a run's weights are of; without a checkpoint any.
int64_t written_epoch(const RunFolder& folder) {
  try {
    const std::string trainer = read_safetensors_metadata(folder.last())["trainer"];
    const Json state = parse_json(trainer, folder.last().string());
    return Field::root(state, folder.last().string()).at("best_epoch").integer(0, INT64_MAX);
  } catch (const Error&) {
    return INT64_MAX;
  }
}

/// Of a run that does not say how good it was in the end: the best epoch whose weights it has.
Json best_epoch_card(const RunFolder& folder, const Field& options) {
  std::error_code ignored;
  const auto training = options.find("training");
  const auto monitors = training ? training->find("monitor") : std::nullopt;
  if (!monitors || !std::filesystem::exists(folder.metrics(), ignored)) return nullptr;
  const Json& list = monitors->value();
  const std::string name = list.is_string() ? list.get<std::string>()
                           : list.is_array() && !list.empty() && list[0].is_string()
                               ? list[0].get<std::string>()
                               : "";
  const int64_t written = written_epoch(folder);
  Json card;
  for (const std::string& line : split(read_file(folder.metrics()), '\n')) {
    const Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || record.value("best", Json()) != Json(true)) continue;
    const Json epoch = record.value("epoch", Json());
    if (!epoch.is_number_integer() || epoch.get<int64_t>() > written) continue;
    const Json validation = record.value("validation", Json());
    if (validation.is_object() && validation.contains(name) && validation[name].is_number())
      card = {{"metric", name}, {"value", validation[name]}, {"split", "validation"}};
  }
  return card;
}

}  // namespace

Json evaluation_card(const Evaluation& evaluation, const std::string& split, int64_t rows) {
  const Metric* main = evaluation.find(evaluation.main);
  if (!main) return nullptr;
  Json card{{"metric", main->name},
            {"value", finite(main->value)},
            {"higher_is_better", main->higher_is_better},
            {"split", split},
            {"rows", rows}};
  if (evaluation.interval)
    card["interval"] = {finite(evaluation.interval->low), finite(evaluation.interval->high)};
  card["baselines"] = Json::array();
  for (const BaselineResult& baseline : evaluation.baselines)
    if (const Metric* own = find_metric(baseline.metrics, main->name))
      card["baselines"].push_back({{"name", baseline.name}, {"value", finite(own->value)}});
  return card;
}

Json run_card(const RunFolder& folder, const std::string& task, const std::string& network,
              int64_t parameters) {
  Json card{{"name", data_name(std::filesystem::absolute(folder.path()).string())},
            {"task", task},
            {"network", network},
            {"parameters", parameters}};
  std::error_code ignored;
  if (!std::filesystem::exists(folder.manifest(), ignored)) return card;
  const Json manifest = read_json_file(folder.manifest());
  const Field root = Field::root(manifest, folder.manifest().string());
  if (const auto data = root.find("data")) {
    if (const std::string source = data->text_or_empty("source"); !source.empty())
      card["data"] = source == "built-in" ? source : data_name(source);
    if (const auto rows = data->find("rows"); rows && rows->value().is_object())
      card["rows"] = rows->value();
  }
  const auto training = root.find("training");
  if (training) {
    for (const char* key : {"epoch", "epochs", "best_epoch"})
      if (const auto number = training->find(key); number && number->value().is_number_integer())
        card[key] = number->value();
    if (const auto fitted = training->find("fitted"); fitted && fitted->value().is_boolean())
      card["fitted"] = fitted->value();
    if (const std::string ended = training->text_or_empty("ended"); !ended.empty())
      card["trained"] = ended;
  }
  if (const auto measured = root.find("evaluation"); measured && measured->value().is_object()) {
    card["measured"] = measured->value();
  } else if (const auto options = root.find("options")) {
    if (const Json found = best_epoch_card(folder, *options); !found.is_null())
      card["measured"] = found;
  }
  if (const std::string warning = folder.unfinished(); !warning.empty()) card["warning"] = warning;
  return card;
}

}  // namespace fovea
