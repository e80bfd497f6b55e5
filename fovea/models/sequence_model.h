// What all models share that read one sequence and write another: searching for an output, step by
// step, and playing a found one again.
#pragma once

#include <utility>
#include <vector>

#include "fovea/decoding/search.h"
#include "fovea/models/model.h"
#include "fovea/nn/ops/packed_projection.h"
#include "fovea/tensor/product.h"

namespace fovea {

/// What the data decides: symbols (how many) or numbers (how many at each step).
struct SequenceShape {
  int64_t source_symbols = 0, target_symbols = 0;  // 0: numbers
  int64_t source_width = 0, target_width = 0;
  int64_t horizon = 0;             // numbers: steps to predict
  bool shared_vocabulary = false;  // one embedding serves both sides
  int64_t padding = 0, begin = 2, end = 3;
};

class SequenceModel : public Model {
 public:
  SequenceModel(SearchOptions search, SequenceShape shape)
      : search_(std::move(search)), shape_(shape) {}

  Schema schema() const override;

  /// Sum of -log p over the real target positions of the batch, and their number.
  virtual std::pair<double, int64_t> negative_log_likelihood(const Batch& batch) const = 0;

 protected:
  bool writes_text() const { return shape_.target_symbols > 0; }

  /// What is computed while it lives has decoding.precision. Unsupported where the device cannot.
  PrecisionScope search_precision() const;

  /// A search for so many inputs: its symbols and device.
  SearchProblem search_problem(int64_t inputs) const;
  /// What it finds with the model's step.
  Predictions search_outputs(const SearchProblem& problem, const StepFunction& step) const;
  /// The same for each source of a batch of symbols; an empty source gives an empty output.
  Predictions search_outputs(const Batch& batch, const StepFunction& step) const;

  /// The chosen output of each row, padded: int64 [B, T].
  at::Tensor chosen_targets(const Batch& batch, const Predictions& predictions) const;

  /// What the decoder sees at each step: begin, then the target without its last symbol. [B, T]
  at::Tensor shifted(const at::Tensor& target) const;

  /// log p of each target symbol, 0 at padding. logits [B, T, V], target [B, T] -> [B, T]
  at::Tensor log_probabilities(const at::Tensor& logits, const at::Tensor& target) const;

  SearchOptions search_;
  SequenceShape shape_;
};

/// What a model answers to one step of a search, from the state in front of its output layer:
/// log_softmax(W x + b), of the likeliest symbols where these are enough and kernels can find them,
/// else of all. x [R, D]; weights as in StepOutput.
StepOutput answer_step(const StepInput& in, const PackedProjection& output, const at::Tensor& x,
                       const at::Tensor& weights = {});

}  // namespace fovea
