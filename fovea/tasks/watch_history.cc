#include "fovea/tasks/watch_history.h"

#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/training/step_log.h"

namespace fovea {

namespace {

constexpr const char* kStepColumns[] = {"step",    "epoch",           "loss", "learning_rate",
                                        "seconds", "rows_per_second", "left", "units_per_second"};

struct PlacedLine {
  Json json;
  std::string place;
};

/// The lines that end, as objects.
std::vector<PlacedLine> objects_in(const std::filesystem::path& path) {
  std::vector<PlacedLine> objects;
  for (const std::string& line : whole_lines(path)) {
    const std::string place = concat(path.string(), ":", objects.size() + 1);
    PlacedLine object{parse_json(line, place, {.comments = false, .one_line = true}), place};
    require(object.json.is_object(), ErrorKind::BadData, place, ": is no object");
    objects.push_back(std::move(object));
  }
  return objects;
}

/// A number or null; null where the field is missing.
Json number_in(const Field& object, const char* field) {
  const auto found = object.find(field);
  return found ? Json(found->finite()) : Json();
}

/// A list for each field: many lines are smaller so.
Json step_columns(const RunFolder& folder) {
  Json columns = Json::object();
  for (const char* column : kStepColumns) columns[column] = Json::array();
  for (const auto& [json, place] : objects_in(folder.steps())) {
    const Field line = Field::root(json, place);
    for (const char* column : kStepColumns) columns[column].push_back(number_in(line, column));
  }
  return columns;
}

void add_epochs(const RunFolder& folder, Json& history) {
  Json& epochs = history["epochs"] = Json::array();
  std::set<std::string> lower;
  for (const auto& [json, place] : objects_in(folder.metrics())) {
    const Field line = Field::root(json, place);
    Json epoch{{"epoch", line.at("epoch").integer(0, INT64_MAX)},
               {"step", line.at("steps").integer(0, INT64_MAX)},
               {"best", line.mark_or("best", false)},
               {"validation", Json::object()}};
    for (const char* field : {"loss", "learning_rate", "seconds"})
      epoch[field] = number_in(line, field);
    if (const auto validation = line.find("validation"))
      validation->each_member([&](const std::string& name, const Field& value) {
        epoch["validation"][name] = value.value().is_null() ? Json() : Json(value.finite());
      });
    if (const auto names = line.find("lower_is_better"))
      for (const std::string& name : names->texts()) lower.insert(name);
    epochs.push_back(std::move(epoch));
  }
  history["lower_is_better"] = lower;
}

/// Where each line of attention.jsonl belongs; its explanation is asked for by itself.
Json attention_places(const RunFolder& folder) {
  Json places = Json::array();
  for (const auto& [json, place] : objects_in(folder.attention())) {
    const Field line = Field::root(json, place);
    places.push_back({{"epoch", line.at("epoch").integer(0, INT64_MAX)},
                      {"step", line.at("step").integer(0, INT64_MAX)},
                      {"row", line.at("row").integer(0, INT64_MAX)}});
  }
  return places;
}

/// {"training": {"epochs": 5}} as "training.epochs": 5. Of a path only the file's name: a board may
/// be given to others.
void flatten(const Json& options, const std::string& before, Json& flat) {
  for (const auto& [key, value] : options.items()) {
    if (value.is_object()) {
      flatten(value, concat(before, key, "."), flat);
      continue;
    }
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    flat[before + key] =
        text.starts_with('/') ? Json(std::filesystem::path(text).filename().string()) : value;
  }
}

/// How the training stands, by the manifest and the lock.
void add_state(const RunFolder& folder, Json& history) {
  std::error_code ignored;
  const Json manifest = std::filesystem::exists(folder.manifest(), ignored)
                            ? read_json_file(folder.manifest())
                            : Json::object();
  const Field root = Field::root(manifest, folder.manifest().string());
  const auto training = root.find("training");
  const bool is_finished = training && training->mark_or("finished", false);
  const std::string reason = training ? training->text_or_empty("reason") : "";
  history["state"] = is_finished        ? "finished"
                     : !reason.empty()  ? "stopped"
                     : folder.is_held() ? "running"
                                        : "broken off";
  history["summary"] = training ? training->text_or_empty("summary") : "";
  if (const auto parameters = root.find("parameters"))
    history["parameters"] = parameters->integer(0, INT64_MAX);
  if (const auto data = root.find("data"))
    if (const auto rows = data->find("rows")) history["rows"] = rows->value();
}

}  // namespace

Json training_history(const RunFolder& folder, const std::string& name) {
  const Json config = folder.read_config();
  const Field root = Field::root(config, folder.config().string());
  Json history{{"name", name}, {"task", root.at("task").text()}};
  add_state(folder, history);
  if (const auto training = root.find("training")) {
    history["epochs_planned"] = training->integer_or("epochs", 0, 0, INT64_MAX);
    if (const auto monitors = training->find("monitor"))
      history["monitor"] = monitors->value().is_array() ? monitors->value() : Json::array();
  }
  Json options = Json::object();
  flatten(config, "", options);
  history["options"] = std::move(options);
  history["steps"] = step_columns(folder);
  add_epochs(folder, history);
  history["attention"] = attention_places(folder);
  return history;
}

std::string history_tag(const RunFolder& folder) {
  std::string tag = folder.is_held() ? "held" : "";
  for (const std::filesystem::path& file :
       {folder.config(), folder.manifest(), folder.metrics(), folder.steps(), folder.attention()})
    tag += "-" + version_of_file(file);
  ContentHash hash;
  hash.add(tag);
  return hash.text();
}

std::string watched_attention(const RunFolder& folder, size_t line) {
  folder.read_config();  // and that no pipe lies in the place of a file
  const std::vector<std::string> lines = whole_lines(folder.attention());
  require(line < lines.size(), ErrorKind::NotFound, folder.attention().string(), ": has ",
          lines.size(), " lines");
  const std::string place = concat(folder.attention().string(), ":", line + 1);
  const Json json = parse_json(lines[line], place, {.comments = false, .one_line = true});
  return Field::root(json, place).at("explanation").value().dump();
}

}  // namespace fovea
