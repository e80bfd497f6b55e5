#include "tests/export/sequence_answers.h"

#include "fovea/tensor/torch.h"

namespace fovea::testing {

namespace {

/// Rows of falling length, the last of several without any symbol: [B, S].
at::Tensor sources(int64_t rows, int64_t length) {
  const Random random(21);
  at::Tensor source = at::zeros({rows, length}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t real = rows == 1 ? length : length * (rows - 1 - row) / (rows - 1);
    for (int64_t i = 0; i < real; ++i)
      source[row][i] = 4 + int64_t(random.below(uint64_t(row * 100 + i), kSourceSymbols - 4));
  }
  return source;
}

Predictions chosen_tokens(int64_t rows) {
  Predictions predictions;
  for (int64_t row = 0; row < rows; ++row) {
    Decoded output;
    for (int64_t t = 0; t < kSteps; ++t)
      output.tokens.push_back(
          3 + int64_t(Random(22).below(uint64_t(row * 100 + t), kTargetSymbols - 3)));
    predictions.outputs.push_back({output});
  }
  return predictions;
}

}  // namespace

Json text_answers(const SequenceModel& model, int64_t rows, int64_t length,
                  const std::function<void(const Tap&, Json& answer)>& add_maps) {
  torch::NoGradGuard no_gradients;
  Batch batch;
  batch.size = rows;
  batch.tensors["source"] = sources(rows, length);
  batch.tensors["source.keep"] = batch.at("source") != 0;
  const Predictions chosen = chosen_tokens(rows);
  Tap tap;
  const at::Tensor log_probabilities = model.replay(batch, chosen, &tap);  // [B, T]
  at::Tensor tokens = at::empty({rows, kSteps}, at::kLong);
  for (int64_t row = 0; row < rows; ++row)
    tokens[row] = torch::tensor(chosen.outputs[size_t(row)][0].tokens, at::kLong);
  Json answer{{"inputs", {{"source", tensor_json(batch.at("source"))}}},
              {"tokens", tensor_json(tokens)},
              {"outputs", {{"log_probabilities", tensor_json(log_probabilities)}}}};
  add_maps(tap, answer);
  return answer;
}

}  // namespace fovea::testing
