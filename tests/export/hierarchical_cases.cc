#include "fovea/models/hierarchical.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

constexpr int64_t kHanWords = 12, kHanClasses = 3;

/// Documents of falling numbers of sentences, the last of several without any; in each sentences of
/// 1 to `length` words, as [B, S, T] for ONNX.
at::Tensor documents(int64_t rows, int64_t length) {
  const Random random(52);
  const int64_t most = 4;
  const at::Tensor words = at::zeros({rows, most, length}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t sentences = rows == 1 ? most : most * (rows - 1 - row) / (rows - 1);
    for (int64_t s = 0; s < sentences; ++s)
      for (int64_t i = 0; i < 1 + (row + 2 * s) % length; ++i)
        words[row][s][i] =
            1 + int64_t(random.below(uint64_t(row * 1000 + s * 100 + i), kHanWords - 1));
  }
  return words;
}

/// The same as our model takes them: words one after the other, and how many each sentence has.
Batch batch_of(const at::Tensor& words) {
  const at::Tensor keep = words != 0;
  const at::Tensor lengths = keep.sum(2);  // [B, S]
  const int64_t most = lengths.sum(1).max().item<int64_t>();
  const at::Tensor flat = at::zeros({words.size(0), most}, at::kLong);
  for (int64_t row = 0; row < words.size(0); ++row) {
    const at::Tensor own = words[row].masked_select(keep[row]);
    flat[row].narrow(0, 0, own.size(0)).copy_(own);
  }
  return {{{"words", flat}, {"sentences", lengths}}, words.size(0)};
}

/// Weights [B, S, W] of words one after the other as [B, S, T].
at::Tensor in_sentences(const at::Tensor& weights, const at::Tensor& words) {
  const at::Tensor keep = words != 0;
  const at::Tensor result = at::zeros(words.sizes(), weights.options());
  for (int64_t row = 0; row < words.size(0); ++row)
    result[row].masked_scatter_(keep[row], weights[row].sum(0));
  return result;
}

ExportCase hierarchical_case(const std::string& pooling, const std::string& score) {
  HierarchicalOptions options;
  options.embedding = 6, options.hidden = 4, options.pooling = {pooling, score, 5};
  const auto model = std::make_shared<HierarchicalAttention>(
      options, HierarchicalShape{kHanWords, kHanClasses, 12, 12, {}});
  randomise(*model, 11);
  const auto answers = [model](int64_t rows, int64_t length) -> Json {
    torch::NoGradGuard no_gradients;
    const at::Tensor words = documents(rows, length);
    const Batch batch = batch_of(words);
    Tap tap;
    const Predictions predictions = model->predict(batch);
    model->replay(batch, predictions, &tap);
    Json outputs{{"probabilities", tensor_json(predictions.scores)}};
    if (!tap.maps().empty()) {
      outputs["sentence_attention"] =
          tensor_json(tap.map("sentences").weights.squeeze(1).squeeze(1).contiguous());
      outputs["word_attention"] =
          tensor_json(in_sentences(tap.map("words").weights.squeeze(1), words));
    }
    return {{"inputs", {{"words", tensor_json(words)}, {"keep", tensor_json(words != 0)}}},
            {"outputs", outputs}};
  };
  return {"hierarchical-" + (pooling == "attention" ? score : pooling),
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

}  // namespace

std::vector<ExportCase> hierarchical_cases() {
  return {hierarchical_case("attention", "context"),
          hierarchical_case("attention", "additive"),
          hierarchical_case("attention", "scaled-dot"),
          hierarchical_case("attention", "content"),
          hierarchical_case("attention", "location-base"),
          hierarchical_case("average", "context"),
          hierarchical_case("max", "context")};
}

}  // namespace fovea::testing
