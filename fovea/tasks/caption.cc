#include "fovea/tasks/caption.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/base/progress.h"
#include "fovea/data/images/erase_cells.h"
#include "fovea/data/images/image_input.h"
#include "fovea/tasks/generation.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kLongestCaption = 1 << 14;  // symbols

constexpr int64_t kLongerThanSeen = 10;  // words that an answer may have more than any in training

}  // namespace

void CaptionDecoding::describe(OptionList& list) {
  SearchOptions::describe(list);
  list.add("cells", cells,
           "model.attention=hard: each word sees the likeliest cell alone, or all, as the "
           "expectation")
      .choices({"likeliest", "all"});
}

void CaptionTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
  list.find("model.score").choices({"additive", "dot", "scaled-dot", "general", "content"});
  list.group("decoding", decoding_);
}

TrainingOptions CaptionTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 20;
  options.batch_size = 64;
  options.pool_batches = 10;
  options.micro_batches = 2;
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

void CaptionTask::copy_pretrained(Model& model) const {
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
  ShowAttendTellOptions options = model_;
  options.answers_softly = decoding_.cells == "all";
  return std::make_unique<ShowAttendTell>(options, decoding_, shape);
}

void CaptionTask::save(const RunFolder& folder) const {
  save_tokeniser(folder, "tokeniser", *coding_.tokeniser);
  folder.write_asset("caption.json", {{"longest", coding_.longest}});
}

void CaptionTask::restore(const RunFolder& folder) {
  coding_.tokeniser = load_tokeniser(folder, "tokeniser");
  const Json json = folder.read_asset("caption.json");
  coding_.longest = Field::root(json, folder.asset("caption.json").string())
                        .at("longest")
                        .integer(1, kLongestCaption);
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
    for (Decoded& output : prediction.outputs)
      output.text = text_of(output.tokens, *coding_.tokeniser);
}

Json CaptionTask::answer(const Example& example, const Prediction& prediction) const {
  return generation_json(prediction);
}

std::string CaptionTask::answer_line(const Example& example, const Prediction& prediction) const {
  return generation_line(prediction);
}

Example CaptionTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  described.axes.push_back(generated_axis(prediction, *coding_.tokeniser, "caption", "word"));
  return described;
}

ExplainOptions CaptionTask::explain_options() const {
  ExplainOptions options;
  options.task = "caption";
  options.title = "What each word of the caption looks at";
  if (model_.attention != "none")
    options.map_titles = {
        {"attention", concat(model_.attention, " attention, ", model_.score.name)}};
  options.describe = [](const Example& example, const Prediction& prediction) {
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
