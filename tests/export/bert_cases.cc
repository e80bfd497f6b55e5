#include "fovea/base/text.h"
#include "fovea/models/bert_chooser.h"
#include "fovea/models/bert_classifier.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/models/bert_tagger.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

constexpr int64_t kPieces = 11, kMask = 4, kBertTags = 5;

BertOptions small_bert() {
  BertOptions options;
  options.layers = 2, options.hidden = 8, options.heads = 2, options.feed_forward = 12;
  options.maximum_length = 16;
  return options;
}

/// Rows of falling length, the last of several without any token; here and there a [MASK], none in
/// a row of one token.
Batch texts(int64_t rows, int64_t length) {
  const Random random(41);
  Batch batch;
  batch.size = rows;
  at::Tensor tokens = at::zeros({rows, length}, at::kLong), segments = at::zeros_like(tokens);
  at::Tensor keep = at::zeros({rows, length}, at::kBool);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t real = rows == 1 ? length : length * (rows - 1 - row) / (rows - 1);
    for (int64_t i = 0; i < real; ++i) {
      const int64_t piece = 5 + int64_t(random.below(uint64_t(row * 100 + i), kPieces - 5));
      tokens[row][i] = (row + i) % 4 == 3 ? kMask : piece;
      segments[row][i] = int64_t(i > real / 2);
      keep[row][i] = true;
    }
  }
  batch.tensors = {{"tokens", tokens}, {"segments", segments}, {"tokens.keep", keep}};
  return batch;
}

Json inputs_of(const Batch& batch) {
  return {{"tokens", tensor_json(batch.at("tokens"))},
          {"keep", tensor_json(batch.at("tokens.keep"))},
          {"segments", tensor_json(batch.at("segments"))}};
}

void add_bert_maps(const Tap& tap, Json& outputs) {
  for (const AttentionMap& map : tap.maps())
    outputs[concat(map.name, "_", map.layer)] = tensor_json(map.weights);
}

Json pretrainer_answers(const BertPretrainer& model, int64_t rows, int64_t length) {
  torch::NoGradGuard no_gradients;
  const Batch batch = texts(rows, length);
  Tap tap;
  const at::Tensor hidden = model.encoder().forward(
      {batch.at("tokens"), batch.at("segments"), batch.at("tokens.keep")}, nullptr, &tap);
  const at::Tensor pooled = model.encoder().pooled(hidden);
  Json outputs{{"embedding", tensor_json(model.predict(batch).values)},
               {"hidden", tensor_json(hidden)},
               {"pooled", tensor_json(pooled)}};
  if (model.shape().next_sentence) {
    const auto parameters = model.named_parameters();
    const at::Tensor logits =
        torch::linear(pooled, parameters["next.weight"], parameters["next.bias"]);
    outputs["next_log_probabilities"] = tensor_json(logits.log_softmax(-1));
  }
  if (model.guesses_masks()) {
    const MaskGuesses guesses = model.guess_masks(batch);
    outputs["masked_places"] = tensor_json(at::stack({guesses.rows, guesses.places}, 1));
    outputs["masked_log_probabilities"] = tensor_json(guesses.log_probabilities);
  }
  add_bert_maps(tap, outputs);
  return {{"inputs", inputs_of(batch)}, {"outputs", outputs}};
}

ExportCase pretrainer_case(const std::string& name, bool heads, bool pruned) {
  const auto model = std::make_shared<BertPretrainer>(
      BertPretrainerOptions{"bert", small_bert()},
      BertPretrainerShape{kPieces, kMask, {0, 1, 2, 3, kMask}, heads, heads});
  randomise(*model, 7);
  if (pruned) prune_heads(*model);
  return {
      "bert-" + name, [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
      [model](int64_t rows, int64_t length) { return pretrainer_answers(*model, rows, length); }};
}

ExportCase classifier_case(const std::string& pooling) {
  BertClassifierOptions options;
  options.encoder = small_bert();
  options.pooling = pooling;
  const auto model = std::make_shared<BertClassifier>(options, DocumentShape{kPieces, 3, 16, {}});
  randomise(*model, 8);
  const auto answers = [model](int64_t rows, int64_t length) -> Json {
    torch::NoGradGuard no_gradients;
    const Batch batch = texts(rows, length);
    const Predictions predictions = model->predict(batch);
    Json outputs{{"probabilities", tensor_json(predictions.scores)}};
    Tap tap;
    model->replay(batch, predictions, &tap);
    add_bert_maps(tap, outputs);
    return {{"inputs", inputs_of(batch)}, {"outputs", outputs}};
  };
  return {"bert-classifier-" + pooling,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

struct OpenBertTagger : BertTagger {
  using BertTagger::BertTagger;
  using BertTagger::logits_of;
};

ExportCase tagger_case() {
  BertTaggerOptions options;
  options.encoder = small_bert();
  const auto model = std::make_shared<OpenBertTagger>(options, kPieces, 16, free_rules(kBertTags));
  randomise(*model, 9);
  const auto answers = [model](int64_t rows, int64_t length) -> Json {
    torch::NoGradGuard no_gradients;
    Batch batch = texts(rows, length);  // every second token begins a word
    batch.tensors["words"] = at::arange(0, length, 2, at::kLong).repeat({rows, 1});
    Tap tap;
    const at::Tensor logits = model->logits_of(batch, nullptr, &tap);
    Json inputs = inputs_of(batch), outputs;
    inputs.erase("segments");
    inputs["words"] = tensor_json(batch.at("words"));
    outputs["log_probabilities"] = tensor_json(logits.log_softmax(-1));
    add_bert_maps(tap, outputs);
    return {{"inputs", inputs}, {"outputs", outputs}};
  };
  return {"bert-tagger",
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

/// A row of the graph is a choice.
ExportCase chooser_case() {
  BertChooserOptions options;
  options.encoder = small_bert();
  const auto model = std::make_shared<BertChooser>(options, kPieces, 16);
  randomise(*model, 11);
  const auto answers = [model](int64_t rows, int64_t length) -> Json {
    torch::NoGradGuard no_gradients;
    const Batch batch = texts(rows, length);
    Tap tap;
    const auto& encoder = dynamic_cast<const BertEncoder&>(*model->named_children()["encoder"]);
    const at::Tensor pooled = encoder.pooled(encoder.forward(
        {batch.at("tokens"), batch.at("segments"), batch.at("tokens.keep")}, nullptr, &tap));
    const auto parameters = model->named_parameters();
    Json outputs{{"score", tensor_json(torch::linear(pooled, parameters["output.weight"],
                                                     parameters["output.bias"]))}};
    add_bert_maps(tap, outputs);
    return {{"inputs", inputs_of(batch)}, {"outputs", outputs}};
  };
  return {"bert-chooser",
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

}  // namespace

std::vector<ExportCase> bert_cases() {
  return {pretrainer_case("pretrainer", true, false),
          pretrainer_case("without-heads", false, false),
          pretrainer_case("pruned", true, true),
          classifier_case("cls"),
          classifier_case("mean"),
          tagger_case(),
          chooser_case()};
}

}  // namespace fovea::testing
