#include "fovea/tasks/speech.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/base/progress.h"
#include "fovea/data/speech/sound_input.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr double kMostSymbolsOfFrame =
    100;  // of a frame; more would only make outputs without an end

constexpr const char* kCoding = "speech.json";

Json list_of(const at::Tensor& numbers) {
  Json list = Json::array();
  if (!numbers.defined()) return list;
  const at::Tensor own = numbers.contiguous();
  for (int64_t i = 0; i < own.numel(); ++i) list.push_back(own.data_ptr<float>()[i]);
  return list;
}

/// Undefined for an empty list.
at::Tensor numbers_of(const Field& list) {
  const std::vector<double> numbers = list.finites();
  return numbers.empty() ? at::Tensor() : at::tensor(numbers, at::kDouble).to(at::kFloat);
}

}  // namespace

void SpeechDecoding::describe(OptionList& list) {
  SearchOptions::describe(list);
  list.add("sharpness", sharpness,
           "above 1 the scores count so many times as much: sharpens what model.normaliser=softmax "
           "was trained with")
      .above(0);
  list.add("window", window,
           "units to each side of the middle of the weights before that are listened to; 0: all")
      .at_least(0);
  list.add("repeat", repeat, "evaluate: every utterance so many times in a row, as one")
      .at_least(1)
      .at_most(100);
}

void SpeechTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
  list.find("model.score")
      .choices({"location-aware", "additive", "dot", "scaled-dot", "general", "content"});
  list.group("decoding", decoding_);
}

TrainingOptions SpeechTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 25;
  options.batch_size = 32;
  options.pool_batches = 10;
  options.micro_batches = 2;
  options.learning_rate = 2e-3;
  options.schedule = "cosine";
  options.clip_norm = 1;
  options.monitor = {"word_error_rate"};
  return options;
}

Splits SpeechTask::load(const DataSource& source, uint64_t seed) {
  std::optional<Progress> bar;
  SpeechLoading loading{seed, model_.unit_frames()};
  loading.progress = [&](int64_t done, int64_t total) {
    if (!bar) bar.emplace("reading", total, "sounds");
    bar->update(done);
  };
  return load_speech(source, data_, coding_, loading);
}

void SpeechTask::write_data(const std::filesystem::path& folder) const {
  write_speech_data(folder, data_);
}

void SpeechTask::prepare(const DataSource& source, uint64_t seed,
                         const std::filesystem::path& path) {
  const Splits splits = load(source, seed);
  write_prepared_speech(path, splits, data_, coding_);
}

std::unique_ptr<Model> SpeechTask::make_model() const {
  SpeechShape shape;
  shape.width = data_.log_mel.width();
  shape.pitches = band_pitches(data_.log_mel);
  shape.symbols = coding_.tokeniser->vocabulary().size();
  shape.densest = coding_.densest;
  shape.padding = Vocabulary::kPadding;
  shape.begin = Vocabulary::kBegin;
  shape.end = Vocabulary::kEnd;
  ListenAttendSpellOptions options = model_;
  if (decoding_.sharpness != 1) {
    require(options.normaliser.name == "softmax", ErrorKind::InvalidArgument,
            "decoding.sharpness sharpens model.normaliser=softmax; this run has ",
            options.normaliser.name);
    options.normaliser.name = "temperature";
    options.normaliser.temperature = 1 / decoding_.sharpness;
  }
  if (decoding_.window > 0) {
    require(options.alignment.name == "global" || options.alignment.name == "median",
            ErrorKind::InvalidArgument, "decoding.window takes the place of model.alignment=global",
            "; this run has ", options.alignment.name);
    options.alignment.name = "median";
    options.alignment.half_width = decoding_.window;
  }
  return std::make_unique<ListenAttendSpell>(options, decoding_, shape);
}

void SpeechTask::save(const RunFolder& folder) const {
  save_tokeniser(folder, "tokeniser", *coding_.tokeniser);
  folder.write_asset(kCoding, {{"densest", coding_.densest},
                               {"mean", list_of(coding_.training.mean)},
                               {"deviation", list_of(coding_.training.deviation)}});
}

void SpeechTask::restore(const RunFolder& folder) {
  coding_.tokeniser = load_tokeniser(folder, "tokeniser");
  const Json json = folder.read_asset(kCoding);
  const Field root = Field::root(json, folder.asset(kCoding).string());
  const Field densest = root.at("densest");
  coding_.densest = densest.finite();
  densest.expect(coding_.densest > 0 && coding_.densest <= kMostSymbolsOfFrame, "symbols a frame");
  coding_.training = {numbers_of(root.at("mean")), numbers_of(root.at("deviation"))};
  const at::Tensor &mean = coding_.training.mean, &deviation = coding_.training.deviation;
  const int64_t width = data_.normalise == "training" ? data_.log_mel.width() : 0;
  const bool fits = (mean.defined() ? mean.numel() : 0) == width &&
                    (deviation.defined() ? deviation.numel() : 0) == width;
  require(fits, ErrorKind::BadData, folder.asset(kCoding).string(),
          ": does not fit data.normalise=", data_.normalise, " and frames of ",
          data_.log_mel.width(), " numbers");
}

Example SpeechTask::parse(const std::string& line) const {
  return example_of(sound_of_input(line, data_.reading()), features());
}

Json SpeechTask::input_schema() const {
  return sound_input_schema();
}

Batch SpeechTask::collate(std::span<const Example> examples) const {
  return collate_speech(examples);
}

void SpeechTask::finish(const Model&, std::span<const Example>,
                        std::vector<Prediction>& predictions) const {
  for (Prediction& prediction : predictions)
    for (Decoded& output : prediction.outputs)
      output.text = text_of(output.tokens, *coding_.tokeniser);
}

Json SpeechTask::answer(const Example& example, const Prediction& prediction) const {
  return generation_json(prediction);
}

std::string SpeechTask::answer_line(const Example& example, const Prediction& prediction) const {
  return generation_line(prediction);
}

Example SpeechTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  const char* unit = coding_.tokeniser->kind() == "words" ? "word" : "character";
  described.axes.push_back(generated_axis(prediction, *coding_.tokeniser, "target", unit));
  return described;
}

ExplainOptions SpeechTask::explain_options() const {
  ExplainOptions options;
  options.task = "speech";
  options.title = "What each symbol of the text listens to";
  options.map_titles = {{"attention", concat("attention, ", model_.score.name)}};
  options.describe = [](const Example& example, const Prediction& prediction) {
    return prediction.outputs.empty() ? std::string() : prediction.outputs[0].text;
  };
  return options;
}

Example SpeechTask::erase(const Example& example, const std::string& axis,
                          std::span<const int64_t> units) const {
  if (axis != "source") return Task::erase(example, axis, units);
  return erase_sound(example, units, features());
}

std::vector<Json> SpeechTask::example_inputs(const Dataset& rows, int64_t count) const {
  std::vector<Json> inputs;
  if (!can_read_sounds()) return inputs;
  const auto& speech = dynamic_cast<const SpeechDataset&>(rows);
  const int64_t most = std::min(count, rows.size());
  for (int64_t i = 0; i < most; ++i) {
    const int64_t row = i * rows.size() / most;  // neighbours may say the same
    inputs.push_back(sound_input(speech.sound(row), speech.transcript(row)));
  }
  return inputs;
}

}  // namespace fovea
