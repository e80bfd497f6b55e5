#include "fovea/tasks/pipeline.h"

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/tasks/architectures.h"
#include "fovea/tasks/language_adapter.h"
#include "fovea/tasks/refit.h"
#include "fovea/tasks/train.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

std::map<std::string, at::Tensor> read_weights(const RunFolder& folder) {
  require(std::filesystem::exists(folder.model()), ErrorKind::NotFound, folder.path().string(),
          ": the run is incomplete, model.safetensors is missing");
  return read_checked_weights(folder.model());
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
  setup.common().device = device;
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
  return pipeline;
}

Example Pipeline::parse(const std::string& line) const {
  const size_t valid = valid_utf8_prefix(line);
  require(valid == line.size(), ErrorKind::BadData, "input: not valid UTF-8 at byte ", valid,
          " (the first byte is 0)");
  require(!is_header_line(line, input_columns_), ErrorKind::BadData,
          "input: this line is a header, the names of columns; a row is expected");
  Example example = with_json_errors("input", [&] { return setup_.task().parse(line); });
  example.given = line;
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
  return setup_.task().load(source, static_cast<uint64_t>(setup_.common().seed));
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
  if (!example.given.empty())  // what was typed, on the page too
    for (const std::string& note : task.input_notes(example)) explanation.notes.push_back(note);
  return explanation;
}

}  // namespace fovea
