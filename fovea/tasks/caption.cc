#include "fovea/tasks/caption.h"

#include <algorithm>
#include <optional>

#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/core/progress.h"
#include "fovea/core/torch.h"
#include "fovea/data/images/erase_cells.h"
#include "fovea/data/images/image_input.h"

namespace fovea {

namespace {

constexpr const char* kTokeniser = "tokeniser.json";
constexpr const char* kTokeniserModel = "tokeniser.model";
constexpr int64_t kLongerThanSeen = 10;  // words that an answer may have more than any in training

/// A symbol for people: of words without the mark that says that a blank stands before them.
std::string label_of(int64_t token, const Tokeniser& tokeniser) {
  constexpr std::string_view kBlank = "\u2581";
  const std::string& text = tokeniser.vocabulary().token(token);
  const bool marked = tokeniser.kind() == "words" && text.starts_with(kBlank);
  return marked ? text.substr(kBlank.size()) : text;
}

/// The axis of what was written.
Axis caption_axis(const Prediction& prediction, const Tokeniser& tokeniser) {
  Axis axis{"caption", "word", {}};
  axis.output = true;
  if (prediction.outputs.empty()) return axis;
  for (const int64_t token : prediction.outputs[0].tokens) {
    const bool is_end = token == Vocabulary::kEnd;
    if (is_end) axis.special.push_back(int64_t(axis.labels.size()));
    axis.labels.push_back(is_end ? "</s>" : label_of(token, tokeniser));
  }
  return axis;
}

}  // namespace

void CaptionTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
  list.find("model.score").choices({"additive", "dot", "scaled-dot", "general", "content"});
  list.group("decoding", search_);
}

TrainingOptions CaptionTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 20;
  options.batch_size = 64;
  options.pool_batches = 10;
  options.parts = 2;
  options.learning_rate = 2e-3;
  options.schedule = "cosine";
  options.clip_norm = 1;
  options.monitor = {"exact_match"};
  return options;
}

int64_t CaptionTask::grid() const {
  return std::max<int64_t>(1, data_.image_size / stride_of(model_.encoder));
}

Splits CaptionTask::load(const DataSource& source, uint64_t seed) {
  std::optional<Progress> bar;
  CaptionLoading loading{seed, grid()};
  loading.progress = [&](int64_t done, int64_t total) {
    if (!bar) bar.emplace("reading", total, "pictures");
    bar->update(done);
  };
  return load_captions(source, data_, coding_, loading);
}

void CaptionTask::write_data(const std::filesystem::path& folder) const {
  write_captions_data(folder, data_);
}

void CaptionTask::prepare(const DataSource& source, uint64_t seed,
                          const std::filesystem::path& path) {
  const Splits splits = load(source, seed);
  write_prepared_captions(path, splits, data_, coding_);
}

void CaptionTask::give_start(Model& model) const {
  const std::string& weights = model_.encoder.weights;
  require(weights.empty() || model_.encoder.name != "small", ErrorKind::InvalidArgument,
          "model.encoder_weights needs a standard network; add model.encoder=resnet18");
  if (!weights.empty())
    load_encoder_weights(dynamic_cast<ShowAttendTell&>(model).encoder(), weights);
}

std::unique_ptr<Model> CaptionTask::make_model() const {
  CaptionShape shape;
  shape.symbols = coding_.tokeniser->vocabulary().size();
  shape.image_size = data_.image_size;
  shape.longest = coding_.longest + kLongerThanSeen;
  shape.padding = Vocabulary::kPadding;
  shape.begin = Vocabulary::kBegin;
  shape.end = Vocabulary::kEnd;
  return std::make_unique<ShowAttendTell>(model_, search_, shape);
}

void CaptionTask::save(const RunFolder& folder) const {
  const TokeniserState state = coding_.tokeniser->state();
  folder.write_asset(kTokeniser, state.description);
  if (!state.model.empty()) write_file(folder.asset(kTokeniserModel), state.model);
  folder.write_asset("caption.json", {{"longest", coding_.longest}});
}

void CaptionTask::restore(const RunFolder& folder) {
  TokeniserState state{folder.read_asset(kTokeniser), ""};
  if (std::filesystem::exists(folder.asset(kTokeniserModel)))
    state.model = read_file(folder.asset(kTokeniserModel));
  coding_.tokeniser = Tokeniser::restore(state, folder.asset(kTokeniser).string());
  const Json json = folder.read_asset("caption.json");
  require(json.is_object() && json.contains("longest") && json["longest"].is_number_integer(),
          ErrorKind::BadData, folder.asset("caption.json").string(),
          ": expected {\"longest\": a whole number}");
  coding_.longest = json["longest"].get<int64_t>();
}

std::string CaptionTask::text_of(const std::vector<int64_t>& tokens) const {
  std::vector<std::string> pieces;
  for (const int64_t token : tokens)
    if (token != Vocabulary::kEnd) pieces.push_back(coding_.tokeniser->vocabulary().token(token));
  return coding_.tokeniser->join(pieces);
}

Example CaptionTask::parse(const std::string& line) const {
  return example_of(image_of_input(line, data_.reading()), {data_.image_size, data_.fit, grid()});
}

Json CaptionTask::input_schema() const {
  return image_input_schema();
}

void CaptionTask::finish(const Model&, std::span<const Example>,
                         std::vector<Prediction>& predictions) const {
  for (Prediction& prediction : predictions)
    for (Decoded& output : prediction.outputs) output.text = text_of(output.tokens);
}

Json CaptionTask::answer(const Prediction& prediction) const {
  if (prediction.outputs.empty()) return {{"text", ""}};
  const auto json_of = [](const Decoded& output) {
    return Json{{"text", output.text}, {"log_probability", output.log_probability}};
  };
  Json json = json_of(prediction.outputs[0]);
  if (prediction.outputs.size() > 1) json["outputs"] = Json::array();
  if (prediction.outputs.size() > 1)
    for (const Decoded& output : prediction.outputs) json["outputs"].push_back(json_of(output));
  return json;
}

std::string CaptionTask::answer_line(const Prediction& prediction) const {
  std::vector<std::string> texts;
  for (const Decoded& output : prediction.outputs) texts.push_back(output.text);
  return join(texts, "\t");
}

Example CaptionTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  described.axes.push_back(caption_axis(prediction, *coding_.tokeniser));
  return described;
}

ExplainOptions CaptionTask::explain_options() const {
  ExplainOptions options;
  options.task = "caption";
  options.title = "What each word of the caption looks at";
  if (model_.attention != "none")
    options.map_titles = {
        {"attention", concat(model_.attention, " attention, ", model_.score.name)}};
  options.describe = [](const Prediction& prediction) {
    return prediction.outputs.empty() ? std::string() : prediction.outputs[0].text;
  };
  return options;
}

Example CaptionTask::erase(const Example& example, const std::string& axis,
                           std::span<const int64_t> units) const {
  if (axis != "cells") return Task::erase(example, axis, units);
  return erase_cells(example, "image", example.axis(axis), units);
}

std::vector<Json> CaptionTask::example_inputs(const Dataset& rows, int64_t count) const {
  std::vector<Json> inputs;
  if (!can_read_images()) return inputs;
  const auto& captions = dynamic_cast<const CaptionDataset&>(rows);
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row)
    inputs.push_back(image_input(encode_png(captions.image(row))));
  return inputs;
}

}  // namespace fovea
