#include "fovea/tasks/pipeline.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/base/stop.h"
#include "fovea/tasks/architectures.h"
#include "fovea/tasks/language_adapter.h"
#include "fovea/tasks/refit.h"
#include "fovea/tasks/run_card.h"
#include "fovea/tasks/train.h"
#include "fovea/tasks/truth.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

constexpr size_t kRowsOfSearch = 64;  // what a search keeps of them should stay in the caches

int64_t size_of(const Example& example) {
  int64_t numbers = 0;
  for (const auto& [name, tensor] : example.tensors) numbers += tensor.numel();
  return numbers;
}

/// Similar lengths together, so that little is padding; the longest first, so that no thread is
/// left alone with them at the end.
std::vector<size_t> longest_first(std::span<const Example> examples) {
  std::vector<size_t> order(examples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return size_of(examples[left]) > size_of(examples[right]);
  });
  return order;
}

/// Owns the untrained model that it answers with.
struct RandomisedPredictor : BorrowedPredictor {
  RandomisedPredictor(const Task& task, std::unique_ptr<Model> model)
      : BorrowedPredictor(task, *model), owned(std::move(model)) {}

  /// What is sampled it chooses itself: the trained network's choices say nothing about this one.
  at::Tensor replay_batch(std::span<const Example> examples,
                          std::span<const Prediction> predictions, Tap& tap) const override {
    std::vector<Prediction> own(predictions.begin(), predictions.end());
    if (own.empty() || !own[0].actions.defined())
      return BorrowedPredictor::replay_batch(examples, predictions, tap);
    const std::vector<Prediction> chosen = predict(examples);
    for (size_t i = 0; i < own.size(); ++i)
      if (chosen[i].actions.sizes() == own[i].actions.sizes()) own[i].actions = chosen[i].actions;
    return BorrowedPredictor::replay_batch(examples, own, tap);
  }
  std::unique_ptr<Model> owned;
};

/// How many there are to choose among.
int64_t count_answers(const Json& answer, const std::vector<AnswerShare>& shares) {
  if (!answer.is_object()) return 0;
  return int64_t(answer.contains("scores") ? answer["scores"].size() : shares.size());
}

Predictions side_by_side(std::span<const Prediction> predictions) {
  const auto stacked = [&](at::Tensor Prediction::*field) {
    if (predictions.empty() || !(predictions[0].*field).defined()) return at::Tensor();
    std::vector<at::Tensor> rows;
    for (const Prediction& prediction : predictions) rows.push_back(prediction.*field);
    return torch::stack(rows);  // [B, …]
  };
  Predictions answers{stacked(&Prediction::scores),
                      stacked(&Prediction::values),
                      {},
                      stacked(&Prediction::actions)};
  for (const Prediction& prediction : predictions) answers.outputs.push_back(prediction.outputs);
  return answers;
}

}  // namespace

std::vector<Prediction> TaskPredictor::predict(std::span<const Example> examples) const {
  std::vector<Prediction> predictions(examples.size());
  const std::vector<size_t> order = longest_first(examples);
  const auto answer = [&](int64_t batch) {
    stop_if_asked();
    const torch::NoGradGuard no_gradients;
    const size_t begin = size_t(batch) * kRowsOfSearch;
    const auto rows =
        std::span(order).subspan(begin, std::min(kRowsOfSearch, order.size() - begin));
    std::vector<Example> some;
    for (const size_t row : rows) some.push_back(examples[row]);
    const Predictions answers = model().predict(task().collate(some).to(model().device()));
    std::vector<Prediction> finished;
    for (size_t i = 0; i < rows.size(); ++i) finished.push_back(answers.at(int64_t(i)));
    task().finish(model(), some, finished);
    for (size_t i = 0; i < rows.size(); ++i) predictions[rows[i]] = std::move(finished[i]);
  };
  const auto batches = int64_t((examples.size() + kRowsOfSearch - 1) / kRowsOfSearch);
  if (model().device().is_cpu())
    run_parallel(batches, answer);
  else
    for (int64_t batch = 0; batch < batches; ++batch) answer(batch);
  return predictions;
}

at::Tensor TaskPredictor::replay_batch(std::span<const Example> examples,
                                       std::span<const Prediction> predictions, Tap& tap) const {
  require(examples.size() == predictions.size() && !examples.empty(), ErrorKind::InvalidArgument,
          "replay of ", examples.size(), " examples with ", predictions.size(), " predictions");
  const Batch batch = task().collate(examples).to(model().device());
  return model().replay(batch, side_by_side(predictions), &tap);  // [B, U]
}

Example TaskPredictor::describe_output(const Example& example, const Prediction& prediction) const {
  return task().describe_output(example, prediction);
}

Example TaskPredictor::erase(const Example& example, const std::string& axis,
                             std::span<const int64_t> units) const {
  return task().erase(example, axis, units);
}

std::unique_ptr<Predictor> TaskPredictor::randomised(uint64_t seed) const {
  std::unique_ptr<Model> untrained = task().make_model();
  untrained->initialise(Random(seed).split("randomised"));
  untrained->to(model().device());
  untrained->eval();
  return std::make_unique<RandomisedPredictor>(task(), std::move(untrained));
}

Setup setup_of(const std::filesystem::path& run) {
  if (is_adapter(run)) return setup_of(network_below(run));
  if (is_hugging_face(run)) {
    const HuggingFaceFolder opened(run);
    const Architecture& found = find_architecture(opened);
    Setup setup(found.task);
    setup.set("model.name", found.model);
    return setup;
  }
  const RunFolder folder(run);
  return Setup::from_config(folder.read_config(), folder.config().string());
}

void Pipeline::load_run() {
  check_run(folder_);
  with_json_errors(folder_.path().string(), [&] { setup_.task().restore(folder_); });
  try {
    model_ = setup_.task().make_model();
  } catch (const c10::Error&) {  // out of memory, or more elements than a tensor may have
    fail(ErrorKind::BadData, folder_.config().string(),
         ": a network of these sizes cannot be made here; is the file damaged?");
  }
  load_state(*model_, read_weights(folder_), folder_.model().string());
  unfinished_ = folder_.unfinished();
  if (!unfinished_.empty()) notes_.push_back(concat(folder_.path().string(), ": ", unfinished_));
}

void Pipeline::load_hugging_face() {
  notes_ = setup_.task().open_pretrained(folder_.path());
  model_ = setup_.task().make_model();
  model_->initialise(Random(0));  // for parts that the folder may lack
  setup_.task().copy_pretrained(*model_);
}

void Pipeline::restore_answers() {
  const bool has_manifest = std::filesystem::exists(folder_.manifest());
  const Json manifest = has_manifest ? read_json_file(folder_.manifest()) : Json::object();
  const auto fitted = Field::root(manifest, folder_.manifest().string()).find("answers");
  if (setup_.task().restore_answers(fitted)) return;
  const std::shared_ptr<Dataset> validation = load_data("").validation;
  require(validation != nullptr, ErrorKind::InvalidArgument,
          "this threshold is chosen on validation rows, and the data of this run has none; give a "
          "number");
  const bool refitted = use_held_out_weights();
  setup_.task().fit_answers(*model_, *validation);
  if (refitted) load_state(*model_, read_weights(folder_), folder_.model().string());
}

bool Pipeline::use_held_out_weights() {
  if (!has_held_out_weights(folder_)) return false;
  load_state(*model_, read_checked_weights(folder_.held_out()), folder_.held_out().string());
  return true;
}

Evaluation Pipeline::evaluate(const Dataset& rows) const {
  return setup_.task().evaluate(*model_, rows, read_baselines(folder_));
}

Pipeline Pipeline::load(const std::filesystem::path& run, const std::string& device,
                        const std::vector<std::string>& assignments) {
  RunFolder folder(run);
  Setup setup = setup_of(run);
  setup.set("device", device);
  for (const std::string& assignment : assignments) {
    // How traces are read is a matter of the file and the machine, not of what was learned.
    const auto sets = [&](const char* start) { return assignment.starts_with(start); };
    require(
        sets("decoding.") || sets("output.") || sets("threads=") || sets("data.cut=") ||
            sets("data.scratch="),
        ErrorKind::InvalidArgument, "--set ", assignment,
        ": a trained run keeps its options; only decoding.*, output.*, threads and, of traces, ",
        "data.cut and data.scratch can be set");
    setup.set(assignment);
  }
  Pipeline pipeline(std::move(folder), std::move(setup));
  const at::Device place = pipeline.setup_.prepare_device();
  if (is_hugging_face(run))
    pipeline.load_hugging_face();
  else
    pipeline.load_run();
  pipeline.input_columns_ = pipeline.task().input_columns(pipeline.setup_.source().roles);
  pipeline.model_->to(place);
  pipeline.model_->eval();
  pipeline.restore_answers();
  pipeline.card_ = run_card(pipeline.folder_, pipeline.task_name(), pipeline.task().model_name(),
                            count_parameters(*pipeline.model_));
  std::error_code ignored;
  if (std::filesystem::exists(pipeline.folder_.asset(kExampleTruths), ignored))
    pipeline.example_truths_ = pipeline.folder_.read_asset(kExampleTruths);
  return pipeline;
}

Example Pipeline::parse(const std::string& line) const {
  const size_t valid = valid_utf8_prefix(line);
  require(valid == line.size(), ErrorKind::BadData, "input: not valid UTF-8 at byte ", valid,
          " (the first byte is 0)");
  const InputColumns& columns = input_columns_;
  const bool may_be_header = !columns.needed.empty() && !columns.texts;
  require(!may_be_header || !is_header_line(line, columns), ErrorKind::BadData,
          "input: this line is a header, the names of columns; a row is expected");
  const std::string input = match_keys(line, input_columns_);
  Example example = with_json_errors("input", [&] { return setup_.task().parse(input); });
  example.given = input;
  return example;
}

Splits Pipeline::load_data(const std::string& path, const std::vector<std::string>& columns,
                           const std::string& target_path) {
  DataSource source = setup_.source();
  if (!path.empty()) source.path = path, source.target_path = target_path, source.whole = true;
  if (!columns.empty()) source.roles = parse_roles(columns);
  if (path.empty() && !source.path.empty())
    require(std::filesystem::exists(source.path), ErrorKind::NotFound, source.path.string(),
            ": the data of this run is gone; name it: fovea evaluate RUN DATA");
  require(!source.path.empty() || !is_hugging_face(folder_.path()), ErrorKind::InvalidArgument,
          folder_.path().string(),
          ": a Hugging Face folder has no data of its own; name it: fovea evaluate FOLDER DATA, "
          "and likewise for the other commands");
  return setup_.task().load(source, static_cast<uint64_t>(setup_.common().seed));
}

std::string Pipeline::truth_of(const Example& example) const {
  if (example.given.empty()) return {};
  const Json given =
      is_json_object(example.given) ? parse_json(example.given, "input") : Json(example.given);
  const std::string& name = input_columns_.truth;
  if (given.is_object() && !name.empty() && given.contains(name)) {
    const Json& right = given[name];
    return right.is_string() ? right.get<std::string>() : right.is_null() ? "" : right.dump();
  }
  if (!example_truths_.is_object()) return {};
  const auto known = example_truths_.find(input_key(given));
  return known != example_truths_.end() && known->is_string() ? known->get<std::string>() : "";
}

void Pipeline::tell_truth(Explanation& explanation, const Prediction& prediction,
                          const std::string& truth) const {
  const std::string right = named_choice(explanation.answer, prediction, truth);
  explanation.truth = compare_truth(explanation.answer, right);
  explanation.shares = answer_shares(explanation.answer, prediction, right);
  explanation.answers = count_answers(explanation.answer, explanation.shares);
}

Explanation Pipeline::explain(const Example& example, const HeadChoice& heads) const {
  return explain(example, predict({&example, 1}).front(), heads);
}

Explanation Pipeline::explain(const Example& example, const Prediction& prediction,
                              const HeadChoice& heads) const {
  const Task& task = setup_.task();
  ExplainOptions options = task.explain_options();
  options.heads = heads;
  options.answer = [&task](const Example& example, const Prediction& prediction) {
    return task.answer(example, prediction);
  };
  Explanation explanation = explain_prediction(*this, example, prediction, options);
  tell_truth(explanation, prediction, truth_of(example));
  explanation.cuts = example.cuts;
  explanation.model = card_;
  for (const std::string& note : task.encoding_notes()) explanation.notes.push_back(note);
  if (!example.given.empty())  // what was typed, on the page too
    for (const std::string& note : task.input_notes(example)) explanation.notes.push_back(note);
  return explanation;
}

QueryKey Pipeline::explain_weight(const Example& example, const WeightPlace& place) const {
  const Prediction prediction = predict({&example, 1}).front();
  return fovea::explain_weight(*this, example, prediction, place, setup_.task().explain_options());
}

std::pair<Example, TakenAway> Pipeline::take_away(const Example& example,
                                                  std::span<const AxisUnits> away) const {
  std::pair<Example, TakenAway> taken{without_units(*this, example, away), {}};
  for (AxisUnits& some : by_axis(away)) {
    std::vector<std::string> labels;
    for (const int64_t unit : some.units)
      labels.push_back(example.axis(some.axis).labels[size_t(unit)]);
    taken.second.units.push_back({std::move(some.axis), std::move(some.units), std::move(labels)});
  }
  const Prediction prediction = predict({&example, 1}).front();
  GivenAnswer& before = taken.second.before;
  before.text = task().explain_options().describe(example, prediction);
  before.answer = task().answer(example, prediction);
  before.shares = answer_shares(before.answer, prediction, "");
  before.answers = count_answers(before.answer, before.shares);
  return taken;
}

Flip Pipeline::find_flip(const Example& example, FlipOptions options) const {
  options.answer = [this](const Example& left, const Prediction& prediction) {
    const std::optional<std::string> key = sameness_key(task().answer(left, prediction));
    require(key.has_value(), ErrorKind::Unsupported, "the answers of the task ", task_name(),
            " are numbers or lists, which change a little with every unit: there is no smallest "
            "change; take units away one by one");
    return *key;
  };
  return fovea::find_flip(*this, example, options);
}

Explanation Pipeline::overview(const Dataset& rows) const {
  Explanation explanation = setup_.task().overview(*model_, rows);
  explanation.model = card_;
  return explanation;
}

}  // namespace fovea
