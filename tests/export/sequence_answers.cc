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

}  // namespace

SequenceShape symbol_shape(bool shared) {
  SequenceShape shape;
  shape.source_symbols = kSourceSymbols;
  shape.target_symbols = shared ? kSourceSymbols : kTargetSymbols;
  shape.shared_vocabulary = shared;
  return shape;
}

Predictions chosen_tokens(int64_t rows, int64_t steps, int64_t symbols, uint64_t seed) {
  Predictions predictions;
  for (int64_t row = 0; row < rows; ++row) {
    Decoded output;
    for (int64_t t = 0; t < steps; ++t)
      output.tokens.push_back(
          3 + int64_t(Random(seed).below(uint64_t(row * 100 + t), uint64_t(symbols - 3))));
    predictions.outputs.push_back({output});
  }
  return predictions;
}

Json token_json(const Predictions& chosen) {
  std::vector<at::Tensor> rows;
  for (const std::vector<Decoded>& outputs : chosen.outputs)
    rows.push_back(torch::tensor(outputs[0].tokens, at::kLong));
  return tensor_json(torch::stack(rows));  // [B, T]
}

Json text_answers(const SequenceModel& model, int64_t rows, int64_t length,
                  const std::function<void(const Tap&, Json& answer)>& add_maps) {
  torch::NoGradGuard no_gradients;
  Batch batch;
  batch.size = rows;
  batch.tensors["source"] = sources(rows, length);
  batch.tensors["source.keep"] = batch.at("source") != 0;
  const Predictions chosen = chosen_tokens(rows, kSteps, kTargetSymbols, 22);
  Tap tap;
  const at::Tensor log_probabilities = model.replay(batch, chosen, &tap);  // [B, T]
  Json answer{{"inputs", {{"source", tensor_json(batch.at("source"))}}},
              {"tokens", token_json(chosen)},
              {"outputs", {{"log_probabilities", tensor_json(log_probabilities)}}}};
  add_maps(tap, answer);
  return answer;
}

}  // namespace fovea::testing
