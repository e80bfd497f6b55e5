#include "fovea/tasks/composed_task.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

ComposedTask::ComposedTask(std::string name, std::shared_ptr<DataKind> data,
                           std::shared_ptr<OutputKind> output, std::vector<ModelSpec> specs)
    : name_(std::move(name)),
      data_(std::move(data)),
      output_(std::move(output)),
      specs_(std::move(specs)) {}

std::vector<std::string> ComposedTask::models() const {
  std::vector<std::string> names;
  for (const ModelSpec& spec : specs_)
    names.insert(names.end(), spec.names.begin(), spec.names.end());
  return names;
}

std::vector<std::string> ComposedTask::option_lists() const {
  std::vector<std::string> names;
  for (const ModelSpec& spec : specs_)
    if (specs_.size() > 1) names.push_back(spec.names.front());
  return names;
}

const ModelSpec& ComposedTask::spec() const {
  const std::string name = model_name();
  for (const ModelSpec& spec : specs_)
    if (std::find(spec.names.begin(), spec.names.end(), name) != spec.names.end()) return spec;
  fail(ErrorKind::Internal, "the task ", name_, " has no model '", name, "'");
}

void ComposedTask::describe(OptionList& list) {
  struct Data {
    DataKind& kind;
    void describe(OptionList& own) { kind.describe(own); }
  } data{this->data()};
  list.group("data", data);
  spec().describe(list);
  list.find("model.name").choices(models());
  output().describe(list);
}

TrainingOptions ComposedTask::fine_tuning_defaults() const {
  return spec().fine_tuning ? spec().fine_tuning() : spec().training;
}

Splits ComposedTask::load(const DataSource& source, uint64_t seed) {
  return data().load(source, seed);
}

void ComposedTask::prepare(const DataSource& source, uint64_t seed,
                           const std::filesystem::path& path) {
  data().prepare(source, seed, path);
}

void ComposedTask::load_pretrained(const std::filesystem::path& run_or_folder) {
  if (!spec().load_pretrained) return Task::load_pretrained(run_or_folder);
  spec().load_pretrained(run_or_folder);
}

std::vector<std::string> ComposedTask::open_pretrained(const std::filesystem::path& folder) {
  if (!spec().open_pretrained) return Task::open_pretrained(folder);
  return spec().open_pretrained(folder);
}

void ComposedTask::copy_pretrained(Model& model) const {
  if (spec().copy_pretrained) spec().copy_pretrained(model);
}

Metrics ComposedTask::measure(const Model& model, const Dataset& rows) const {
  return output().measure(model, rows, progress);
}

LengthCurve ComposedTask::measure_by_length(const Model& model, const Dataset& rows) const {
  return output().measure_by_length(model, rows, progress);
}

std::vector<std::string> ComposedTask::metric_notes(const Dataset& rows) const {
  return output().metric_notes(rows);
}

InputColumns ComposedTask::input_columns(const Roles& roles) const {
  return data().input_columns(roles);
}

std::vector<Example> ComposedTask::parse_table(const CsvTable& table,
                                               const InputColumns& columns) const {
  return data().parse_table(table, columns);
}

Batch ComposedTask::collate(std::span<const Example> examples) const {
  return data().collate(examples);
}

void ComposedTask::finish(const Model& model, std::span<const Example> examples,
                          std::vector<Prediction>& predictions) const {
  output().finish(model, examples, predictions);
}

Json ComposedTask::answer(const Example& example, const Prediction& prediction) const {
  return output().answer(example, prediction);
}

std::string ComposedTask::answer_line(const Example& example, const Prediction& prediction) const {
  return output().answer_line(example, prediction);
}

Example ComposedTask::describe_output(const Example& example, const Prediction& prediction) const {
  return output().describe_output(example, prediction);
}

ExplainOptions ComposedTask::explain_options() const {
  ExplainTitles titles = spec().titles();
  ExplainOptions options;
  options.task = name_;
  options.title = std::move(titles.title);
  options.map_titles = std::move(titles.maps);
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return output().headline(example, prediction);
  };
  return options;
}

Explanation ComposedTask::overview(const Model& model, const Dataset& rows) const {
  require(!spec().has_attention || spec().has_attention(), ErrorKind::Unsupported,
          "explain: model.name=", model_name(),
          " has no attention to show; train with model.name=", models().front());
  return spec().overview ? spec().overview(*this, model, rows) : Task::overview(model, rows);
}

Example ComposedTask::erase(const Example& example, const std::string& axis,
                            std::span<const int64_t> units) const {
  return data().erase(example, axis, units);
}

std::vector<Json> ComposedTask::example_inputs(const Dataset& rows, int64_t count) const {
  std::vector<Json> inputs;
  for (const int64_t row : data().example_rows(rows, count)) {
    Json input = data().input(rows, row);
    if (!input.is_null()) inputs.push_back(std::move(input));
  }
  return inputs;
}

StreamReport ComposedTask::stream(
    const Model& model, const std::filesystem::path& path, bool json,
    const std::function<void(const std::string& line)>& answer) const {
  return output().stream(model, path, json, answer);
}

std::vector<std::string> ComposedTask::keep_most_attended(const Model& model, const Dataset& rows,
                                                          int64_t count) {
  if (!spec().keep_most_attended) return Task::keep_most_attended(model, rows, count);
  require(!spec().has_attention || spec().has_attention(), ErrorKind::Unsupported,
          "prune: model.name=", model_name(), " has no attention to prune by");
  return spec().keep_most_attended(model, rows, count);
}

}  // namespace fovea
