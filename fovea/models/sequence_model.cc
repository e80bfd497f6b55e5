#include "fovea/models/sequence_model.h"

#include <algorithm>

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// One number per source, made from its symbols: what is drawn for a source does not depend on its
/// neighbours in a batch. source [B, S]
std::vector<int64_t> numbers_of(const Tensor& source) {
  const Tensor symbols = source.to(at::kCPU, at::kLong).contiguous();
  std::vector<int64_t> numbers;
  for (int64_t row = 0; row < symbols.size(0); ++row) {
    uint64_t hash = 0xcbf29ce484222325ull;
    const int64_t* symbol = symbols.data_ptr<int64_t>() + row * symbols.size(1);
    for (int64_t i = 0; i < symbols.size(1) && symbol[i] != 0; ++i)  // without padding
      hash = (hash ^ static_cast<uint64_t>(symbol[i])) * 0x100000001b3ull;
    numbers.push_back(static_cast<int64_t>(hash >> 1));
  }
  return numbers;
}

}  // namespace

Schema SequenceModel::schema() const {
  Schema schema;
  if (shape_.source_symbols > 0)
    schema.push_back({"source", at::kLong, {-1, -1}});
  else
    schema.push_back({"source", at::kFloat, {-1, -1, shape_.source_width}});
  schema.push_back({"source.keep", at::kBool, {-1, -1}});
  if (writes_text())
    schema.push_back({"target", at::kLong, {-1, -1}});
  else
    schema.push_back({"target", at::kFloat, {-1, -1, shape_.target_width}});
  schema.push_back({"target.keep", at::kBool, {-1, -1}});
  return schema;
}

PrecisionScope SequenceModel::search_precision() const {
  const Precision precision = precision_named(search_.precision);
  require_precision(precision, device());
  return PrecisionScope(precision, device());
}

SearchProblem SequenceModel::search_problem(int64_t inputs) const {
  SearchProblem problem;
  problem.inputs = inputs;
  problem.begin = shape_.begin;
  problem.end = shape_.end;
  problem.forbidden = {shape_.padding, shape_.begin};
  problem.device = device();
  return problem;
}

Predictions SequenceModel::search_outputs(const SearchProblem& problem,
                                          const StepFunction& step) const {
  Predictions predictions;
  for (const auto& found : search(search_, problem, step)) {
    auto& outputs = predictions.outputs.emplace_back();
    for (const Hypothesis& hypothesis : found)
      outputs.push_back({hypothesis.tokens, hypothesis.log_probability, ""});
  }
  return predictions;
}

Predictions SequenceModel::search_outputs(const Batch& batch, const StepFunction& step) const {
  const Tensor lengths = batch.at("source.keep").sum(1).to(at::kCPU);
  SearchProblem problem = search_problem(batch.size);
  problem.keep = batch.at("source.keep");
  problem.numbers = numbers_of(batch.at("source"));
  for (int64_t i = 0; i < batch.size; ++i)
    problem.maximum_length.push_back(
        search_.maximum_length > 0 ? search_.maximum_length : 2 * lengths[i].item<int64_t>() + 20);
  Predictions predictions = search_outputs(problem, step);
  for (int64_t i = 0; i < batch.size; ++i)
    if (lengths[i].item<int64_t>() == 0)  // nothing in, nothing out
      predictions.outputs[size_t(i)].assign(1, Decoded());
  return predictions;
}

Tensor SequenceModel::chosen_targets(const Batch& batch, const Predictions& predictions) const {
  int64_t longest = 0;
  for (const auto& outputs : predictions.outputs)
    longest = std::max(longest, int64_t(outputs.empty() ? 0 : outputs[0].tokens.size()));
  Tensor target = at::full({batch.size, longest}, shape_.padding, at::kLong);
  for (int64_t row = 0; row < batch.size; ++row) {
    const auto& outputs = predictions.outputs[static_cast<size_t>(row)];
    if (outputs.empty()) continue;
    std::copy(outputs[0].tokens.begin(), outputs[0].tokens.end(),
              target.data_ptr<int64_t>() + row * longest);
  }
  return target.to(device());
}

Tensor SequenceModel::shifted(const Tensor& target) const {
  const Tensor begin = at::full({target.size(0), 1}, shape_.begin, target.options());
  return at::cat({begin, target.narrow(1, 0, target.size(1) - 1)}, 1);
}

Tensor SequenceModel::log_probabilities(const Tensor& logits, const Tensor& target) const {
  return logits.log_softmax(-1).gather(2, target.unsqueeze(-1)).squeeze(-1) *
         (target != shape_.padding);
}

StepOutput answer_step(const StepInput& in, const PackedProjection& output, const Tensor& x,
                       const Tensor& weights) {
  if (in.best == 0 || !output.is_fused(x)) return {output.forward(x).log_softmax(-1), weights};
  const BestSymbols best = output.best(x, in.best, in.forbidden);
  return {best.log_probabilities, weights, best.symbols};
}

}  // namespace fovea
