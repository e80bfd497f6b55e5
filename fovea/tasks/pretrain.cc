#include "fovea/tasks/pretrain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/packed_text.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

constexpr int64_t kRowsAtOnce = 32;
constexpr uint64_t kEvaluation = 20181011;  // decides which words are masked while measuring
constexpr int64_t kGuesses = 5;             // words for each [MASK]

/// Head parameters that both have.
void take_heads(Model& model, const WeightMap& heads) {
  torch::NoGradGuard no_gradients;
  std::map<std::string, at::Tensor> own = state_of(model);
  for (const auto& [name, tensor] : heads)
    if (const auto found = own.find(name);
        found != own.end() && found->second.sizes() == tensor.sizes())
      found->second.copy_(tensor);
}

}  // namespace

void PretrainTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
}

TrainingOptions PretrainTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 10;
  options.batch_size = 32;
  options.pool_batches = 20;
  options.micro_batches = 2;
  options.optimiser = "adamw";
  options.learning_rate = 2e-3;
  options.schedule = "linear";
  options.warmup_steps = 200;
  options.weight_decay = 0.01;
  options.clip_norm = 1;
  return options;
}

std::vector<std::string> PretrainTask::open_pretrained(const std::filesystem::path& folder) {
  begin_with(read_hugging_face(folder));
  data_.segments.next_sentence = start_->heads.count("next.weight") > 0;
  data_.segments.longest = std::min(data_.segments.longest, start_->options.maximum_length);
  only_answers_ = true;
  return start_->notes;
}

void PretrainTask::copy_pretrained(Model& model) const {
  BertTask::copy_pretrained(model);
  if (start_) take_heads(model, start_->heads);
}

Splits PretrainTask::load(const DataSource& source, uint64_t seed) {
  require(data_.segments.longest <= model_.encoder.maximum_length, ErrorKind::InvalidArgument,
          "data.longest (", data_.segments.longest, ") is more than the ",
          model_.encoder.maximum_length, " positions of model.maximum_length");
  return noted(load_pretraining(source, data_, tokeniser_, seed));
}

void PretrainTask::write_data(const std::filesystem::path& folder) const {
  write_stories(folder, data_.generator);
}

BertPretrainerShape PretrainTask::shape() const {
  BertPretrainerShape shape;
  const WordPiece::Special& special = tokeniser_->special();
  shape.vocabulary = tokeniser_->size();
  shape.mask = special.mask;
  shape.special = {special.padding, special.unknown, special.begin, special.separator,
                   special.mask};
  shape.masked_words = !only_answers_ || start_->heads.count("masked.bias") > 0;
  shape.next_sentence = data_.segments.next_sentence;
  return shape;
}

std::unique_ptr<Model> PretrainTask::make_model() const {
  return std::make_unique<BertPretrainer>(model_, shape());
}

void PretrainTask::save(const RunFolder& folder) const {
  save_wordpiece(folder, *tokeniser_);
}

void PretrainTask::restore(const RunFolder& folder) {
  tokeniser_ = load_wordpiece(folder);
}

Metrics PretrainTask::measure(const Model& model, const Dataset& rows) const {
  const auto& bert = dynamic_cast<const BertPretrainer&>(model);
  require(bert.guesses_masks(), ErrorKind::Unsupported,
          "this network has no head for masked words, so there is nothing to measure; retrieval is "
          "measured by fovea predict --nearest");
  // Not over_rows(): which words are masked depends on the batch, and must not on the device.
  const int64_t parts = (rows.size() + kRowsAtOnce - 1) / kRowsAtOnce;
  std::vector<PretrainingScore> scores(static_cast<size_t>(parts));
  const auto do_part = [&](int64_t part) {
    std::vector<int64_t> picked(
        static_cast<size_t>(std::min(kRowsAtOnce, rows.size() - part * kRowsAtOnce)));
    std::iota(picked.begin(), picked.end(), part * kRowsAtOnce);
    scores[size_t(part)] = bert.score(rows.batch(picked).to(model.device()),
                                      Random(kEvaluation).split(static_cast<uint64_t>(part)));
  };
  if (model.device().is_cpu())
    run_parallel(parts, do_part);
  else
    for (int64_t part = 0; part < parts; ++part) do_part(part);
  PretrainingScore all;
  for (const PretrainingScore& score : scores) all.add(score);  // in this order, whoever was first
  const double masked = std::max<double>(1, double(all.masked)),
               count = std::max<double>(1, double(all.rows));
  const double nats = all.masked_nats / masked;
  Metrics metrics{{"loss", nats + all.next_nats / count},
                  {"masked_perplexity", std::exp(nats)},
                  {"masked_accuracy", double(all.masked_right) / masked, true}};
  if (data_.segments.next_sentence)
    metrics.push_back({"next_accuracy", double(all.next_right) / count, true});
  return metrics;
}

Example PretrainTask::parse(const std::string& line) const {
  const TextInput input = read_text_input(line);
  PackingOptions framing;
  framing.longest = model_.encoder.maximum_length;
  const std::string second_text = input.second.value_or("");
  const Pieces first = tokeniser_->encode(input.text), second = tokeniser_->encode(second_text);
  const PackedInputs packed =
      pack_texts(*tokeniser_, first, input.second ? &second : nullptr, framing);
  Example example = token_example(*tokeniser_, packed.inputs.front(), input.text, second_text);
  example.cut = packed.cut[0] + packed.cut[1];
  return example;
}

Json PretrainTask::input_schema() const {
  return {{"type", "string"}};
}

Batch PretrainTask::collate(std::span<const Example> examples) const {
  return collate_tokens(examples, tokeniser_->special().padding);
}

void PretrainTask::finish(const Model& model, std::span<const Example> examples,
                          std::vector<Prediction>& predictions) const {
  const auto& bert = dynamic_cast<const BertPretrainer&>(model);
  if (!bert.guesses_masks()) return;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const at::Tensor& tokens = examples[i].tensors.at("tokens");
    if (!(tokens == tokeniser_->special().mask).any().item<bool>()) continue;
    const MaskGuesses guesses =
        bert.guess_masks(collate(examples.subspan(i, 1)).to(model.device()));
    const int64_t count = std::min(kGuesses, tokeniser_->size());
    const auto [scores, ids] = guesses.log_probabilities.cpu().topk(count, -1);  // [M, count]
    for (int64_t mask = 0; mask < ids.size(0); ++mask)
      for (int64_t rank = 0; rank < count; ++rank) {
        const int64_t piece = ids[mask][rank].item<int64_t>();
        predictions[i].outputs.push_back({{guesses.places[mask].item<int64_t>(), piece},
                                          scores[mask][rank].item<double>(),
                                          tokeniser_->piece(piece)});
      }
  }
}

Json PretrainTask::answer(const Example& example, const Prediction& prediction) const {
  const at::Tensor values = prediction.values.to(at::kCPU, at::kFloat).contiguous();
  Json embedding = Json::array();
  for (int64_t i = 0; i < values.numel(); ++i) embedding.push_back(values.data_ptr<float>()[i]);
  Json json{{"embedding", std::move(embedding)}};
  for (const Decoded& guess : prediction.outputs) {
    Json& masks = json["masks"];
    if (masks.empty() || masks.back()["token"] != guess.tokens[0])
      masks.push_back({{"token", guess.tokens[0]}, {"words", Json::array()}});
    masks.back()["words"].push_back(
        {{"word", guess.text}, {"probability", std::exp(guess.log_probability)}});
  }
  return json;
}

std::string PretrainTask::answer_line(const Example& example, const Prediction& prediction) const {
  std::vector<std::string> parts;
  if (!prediction.outputs.empty()) {  // one column for each [MASK], the likeliest word first
    int64_t place = -1;
    for (const Decoded& guess : prediction.outputs) {
      const std::string word =
          concat(guess.text, " ", format_number(std::exp(guess.log_probability), 3));
      if (guess.tokens[0] == place)
        parts.back() += ", " + word;
      else
        parts.push_back(word);
      place = guess.tokens[0];
    }
    return join(parts, "\t");
  }
  const at::Tensor values = prediction.values.to(at::kCPU, at::kFloat).contiguous();
  for (int64_t i = 0; i < values.numel(); ++i)
    parts.push_back(format_number(values.data_ptr<float>()[i], 6));
  return join(parts, ",");
}

ExplainOptions PretrainTask::explain_options() const {
  ExplainOptions options;
  options.task = "pretrain";
  options.title = "Where each token looks";
  options.map_titles = {{"attention", "tokens look at each other"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return prediction.outputs.empty()
               ? concat("an embedding of ", prediction.values.numel(), " numbers")
               : answer_line(example, prediction);
  };
  return options;
}

Example PretrainTask::erase(const Example& example, const std::string& axis,
                            std::span<const int64_t> units) const {
  if (axis != "tokens") return Task::erase(example, axis, units);
  return erase_tokens(example, *tokeniser_, units);
}

std::vector<Json> PretrainTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& segments = dynamic_cast<const SegmentDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, segments.size()); ++row) {
    const auto [first, second] = segments.texts(row);
    if (data_.segments.next_sentence)
      inputs.push_back({{"text", first}, {"second", second}});
    else
      inputs.push_back(first);
  }
  return inputs;
}

}  // namespace fovea
