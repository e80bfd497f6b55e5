#include "fovea/models/lstm_tagger.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

constexpr int64_t kLstmWords = 12, kLetters = 9, kLstmTags = 4, kFeatures = 30;

struct OpenLstmTagger : LstmTagger {
  using LstmTagger::logits_of;
  using LstmTagger::LstmTagger;
};

/// Sentences of falling length, the last of several empty; words of 0 to 4 letters.
Batch sentences(int64_t rows, int64_t length) {
  const Random random(51);
  Batch batch;
  batch.size = rows;
  at::Tensor words = at::zeros({rows, length}, at::kLong);
  at::Tensor letters = at::zeros({rows, length, 4}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t real = rows == 1 ? length : length * (rows - 1 - row) / (rows - 1);
    for (int64_t i = 0; i < real; ++i) {
      const auto place = uint64_t(row * 100 + i);
      words[row][i] = 1 + int64_t(random.below(place, kLstmWords - 1));
      for (int64_t j = 0; j < (row + i) % 5; ++j)
        letters[row][i][j] =
            1 + int64_t(random.split("letters").below(place * 10 + uint64_t(j), kLetters - 1));
    }
  }
  at::Tensor features = at::zeros({rows, length, 3}, at::kLong);  // some are none
  for (int64_t i = 0; i < features.numel(); ++i)
    features.view(-1)[i] = int64_t(random.split("features").below(uint64_t(i), kFeatures));
  batch.tensors = {{"words", words},
                   {"words.keep", words != 0},
                   {"letters", letters},
                   {"features", features},
                   {"vectors", words.flip(1)}};
  return batch;
}

ExportCase lstm_tagger_case(const std::string& name, const std::string& letters, int64_t layers,
                            bool pruned, bool chain = false, bool vectors = false) {
  LstmTaggerOptions options;
  options.crf = options.features = chain;
  options.embedding = 6, options.letters = letters, options.letter_embedding = 4;
  options.letter_filters = 5, options.hidden = 4, options.layers = layers, options.heads = 2;
  LstmTaggerShape shape{kLstmWords, kLetters, 1, kFeatures};
  if (vectors) shape.vectors = kLstmWords, shape.vector_size = 3;
  const auto model = std::make_shared<OpenLstmTagger>(options, shape, free_rules(kLstmTags));
  randomise(*model, 10);
  if (vectors) model->take_vectors(Random(11).normal_tensor({kLstmWords, 3}, 0, 1, at::kFloat));
  if (pruned) prune_heads(*model);
  const auto answers = [model, letters, chain, vectors](int64_t rows, int64_t length) -> Json {
    torch::NoGradGuard no_gradients;
    const Batch batch = sentences(rows, length);
    Tap tap;
    const at::Tensor logits = model->logits_of(batch, nullptr, &tap);
    Json inputs{{"words", tensor_json(batch.at("words"))},
                {"keep", tensor_json(batch.at("words.keep"))}};
    if (vectors) inputs["word_vectors"] = tensor_json(batch.at("vectors"));
    if (letters == "cnn") inputs["letters"] = tensor_json(batch.at("letters"));
    Json outputs{{"log_probabilities", tensor_json(logits.log_softmax(-1))},
                 {"attention", tensor_json(tap.map("attention").weights)}};
    if (chain) {
      inputs["word_features"] = tensor_json(batch.at("features"));
      outputs["begin"] = tensor_json(model->named_parameters()["chain.begin"]);
      outputs["transition"] = tensor_json(model->named_parameters()["chain.transition"]);
    }
    return {{"inputs", inputs}, {"outputs", outputs}};
  };
  return {"lstm-tagger-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

}  // namespace

std::vector<ExportCase> lstm_tagger_cases() {
  return {lstm_tagger_case("letters", "cnn", 1, false),
          lstm_tagger_case("words-alone", "none", 2, false),
          lstm_tagger_case("pruned", "none", 1, true),
          lstm_tagger_case("chain", "cnn", 1, false, true),
          lstm_tagger_case("vectors", "cnn", 1, false, true, true)};
}

}  // namespace fovea::testing
