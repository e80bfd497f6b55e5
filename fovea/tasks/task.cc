#include "fovea/tasks/task.h"

#include <algorithm>
#include <stdexcept>

#include "fovea/base/error.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/truth.h"

namespace fovea {

Task::Task(std::string name, std::shared_ptr<DataKind> data, std::shared_ptr<OutputKind> output,
           std::vector<ModelSpec> specs)
    : name_(std::move(name)),
      data_(std::move(data)),
      output_(std::move(output)),
      specs_(std::move(specs)) {
  require(!specs_.empty() && !specs_[0].names.empty(), ErrorKind::Internal, "the task ", name_,
          " has no model");
}

std::vector<std::string> Task::models() const {
  std::vector<std::string> names;
  for (const ModelSpec& spec : specs_)
    names.insert(names.end(), spec.names.begin(), spec.names.end());
  return names;
}

std::vector<std::string> Task::option_lists() const {
  std::vector<std::string> names;
  for (const ModelSpec& spec : specs_)
    if (specs_.size() > 1) names.push_back(spec.names.front());
  return names;
}

const std::string& Task::model_name() const {
  return model_name_.empty() ? specs_[0].names[0] : model_name_;
}

bool Task::choose_model(const std::string& name) {
  const std::vector<std::string> known = models();
  if (std::ranges::count(known, name) == 0 || name == model_name()) return false;
  model_name_ = name;
  return true;
}

const std::string& Task::fine_tuned_model() const {
  for (const ModelSpec& spec : specs_)
    if (spec.fine_tuning) return spec.names[0];
  return specs_[0].names[0];
}

const ModelSpec& Task::spec() const {
  for (const ModelSpec& spec : specs_)
    if (std::ranges::count(spec.names, model_name()) > 0) return spec;
  fail(ErrorKind::Internal, "the task ", name_, " has no model '", model_name(), "'");
}

void Task::describe(OptionList& list) {
  list.group("data", data());
  spec().describe(list);
  list.find("model.name").choices(models());
  output().describe(list);
}

Splits Task::load(const DataSource& source, uint64_t seed) {
  data().loading = loading;
  return data().load(source, seed);
}

void Task::prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path) {
  data().loading = loading;
  data().prepare(source, seed, path);
}

TrainingOptions Task::fine_tuning_defaults() const {
  return spec().fine_tuning ? fit_to_rows(spec().fine_tuning()) : spec().training;
}

std::vector<std::string> Task::configs() const {
  std::vector<std::string> names;
  for (const auto& [name, options] : spec().configs) names.push_back(name);
  return names;
}

Json Task::config(const std::string& name, bool fine_tuning) const {
  const auto found = spec().configs.find(name);
  require(found != spec().configs.end(), ErrorKind::NotFound, "--config ", name,
          ": no such file, and the task ", name_, " has no settings of this name",
          suggestion(name, configs()), "; it has: ", join(configs()));
  if (fine_tuning && spec().fine_tuning && name == "tutorial")
    return tutorial_config(spec().fine_tuning());
  return found->second;
}

Json tutorial_config(const TrainingOptions& tutorial) {
  TrainingOptions fixed = tutorial;
  fixed.evaluate_epochs = 1;
  fixed.evaluate_rows = 0;
  if (fixed.patience == kByBudget) fixed.patience = 0;
  return {{"training", options_json(fixed)}};
}

TrainingOptions sequence_training() {
  TrainingOptions options;
  options.micro_batches = 2;
  options.learning_rate = 2e-3;
  options.schedule = "cosine";
  options.clip_norm = 1;
  return options;
}

TrainingOptions fit_to_rows(TrainingOptions tutorial) {
  constexpr int64_t kMeant = 1024;  // rows of a batch
  tutorial.epochs = 0;
  if (tutorial.batch_size > 1 && tutorial.batch_size <= kMeant) {
    tutorial.largest_batch = tutorial.batch_size;
    tutorial.batch_size = 0;
    if (tutorial.schedule == "constant") tutorial.schedule = "cosine";
    if (tutorial.optimiser == "adam" && tutorial.weight_decay == 0) {
      tutorial.optimiser = "adamw";
      tutorial.weight_decay = 0.01;
    }
  }
  // A few rows give few values of an accuracy: where it stands still, the loss decides.
  if (tutorial.monitor.size() == 1 && tutorial.monitor[0] != "loss")
    tutorial.monitor.push_back("loss");
  return tutorial;
}

void Task::load_pretrained(const std::filesystem::path& run_or_folder) {
  require(bool(spec().load_pretrained), ErrorKind::Unsupported, "--from: model.name=", model_name(),
          " of the task ", name_,
          " learns everything itself; it works for the models bert of documents, tag, questions, "
          "choices and pretrain");
  spec().load_pretrained(run_or_folder);
}

std::vector<std::string> Task::open_pretrained(const std::filesystem::path& folder) {
  require(bool(spec().open_pretrained), ErrorKind::Unsupported, folder.string(), ": the task ",
          name_, " opens no Hugging Face folder");
  return spec().open_pretrained(folder);
}

std::vector<std::string> Task::write_hugging_face(const std::filesystem::path& run,
                                                  const std::filesystem::path& folder,
                                                  bool only_adapter) const {
  require(!only_adapter || spec().write_adapter, ErrorKind::InvalidArgument,
          "export: --adapter is for language models with low-rank adapters");
  if (only_adapter) return spec().write_adapter(run, folder);
  if (spec().write_hugging_face) return spec().write_hugging_face(run, folder);
  const PretrainedBert bert = read_pretrained(run);
  fovea::write_hugging_face(folder, bert);
  return bert.notes;
}

void Task::copy_pretrained(Model& model) const {
  if (spec().copy_pretrained) spec().copy_pretrained(model);
}

std::vector<std::string> Task::keep_most_attended(const Model& model, const Dataset& rows,
                                                  int64_t count) {
  require(bool(spec().keep_most_attended), ErrorKind::Unsupported,
          "prune: this task has no columns to drop; it works for runs of the task features");
  require(has_attention(), ErrorKind::Unsupported, "prune: model.name=", model_name(),
          " has no attention to prune by");
  return spec().keep_most_attended(model, rows, count);
}

ExplainOptions Task::explain_options() const {
  ExplainTitles titles = spec().titles();
  ExplainOptions options;
  options.task = name_;
  options.title = std::move(titles.title);
  options.map_titles = std::move(titles.maps);
  options.ensembles = std::move(titles.ensembles);
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return output().headline(example, prediction);
  };
  return options;
}

Explanation Task::overview(const Model& model, const Dataset& rows) const {
  const ModelSpec& usual = specs_[0];
  require(has_attention(), ErrorKind::Unsupported, "explain: model.name=", model_name(),
          " has no attention to show; train with model.name=",
          usual.candidates.empty() ? usual.names[0] : usual.candidates[0]);
  require(rows.size() > 0, ErrorKind::BadData, "there are no rows to explain");
  if (spec().overview) return spec().overview(*this, model, rows);
  Explanation explanation =
      explain_example(BorrowedPredictor(*this, model), rows.example(0), explain_options());
  explanation.notes.push_back(
      concat("the first of ", format_count(rows.size()), " rows; give an input to see another"));
  return explanation;
}

Evaluation Task::evaluate(const Model& model, const Dataset& rows,
                          const NamedTensors& baselines) const {
  Evaluation evaluation = output().evaluate(model, rows, progress);
  if (baselines.empty()) return evaluation;
  try {
    evaluation.baselines = output().measure_baselines(baselines, rows, data().linear_inputs(rows));
  } catch (const std::out_of_range&) {  // a file that somebody changed
    fail(ErrorKind::BadData, "the baselines of this run are incomplete");
  } catch (const c10::Error&) {
    fail(ErrorKind::BadData, "the baselines of this run do not fit its data");
  }
  return evaluation;
}

Json Task::answer(const Example& example, const Prediction& prediction) const {
  Json answer = output().answer(example, prediction);
  const std::vector<std::string> notes = data().input_notes(example);
  if (!notes.empty() && answer.is_object()) answer["notes"] = notes;
  return answer;
}

std::vector<Json> Task::example_inputs(const Dataset& rows, int64_t count) const {
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row) {
    Json input = data().input(rows, row);
    if (!input.is_null()) inputs.push_back(std::move(input));
  }
  return inputs;
}

Json Task::example_truths(const Dataset& rows, int64_t count) const {
  Json truths = Json::object();
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row) {
    const Json input = data().input(rows, row);
    const std::string right = input.is_null() ? "" : truth(rows, row);
    if (!right.empty()) truths[input_key(input)] = right;
  }
  return truths;
}

}  // namespace fovea
