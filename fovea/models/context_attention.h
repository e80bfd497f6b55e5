// Context attention: each context owns a row of weights over the positions of the input.
//   free     y = w . (x * A[c]) + b     A = Embedding(contexts, positions), N(0, 1); weights of any
//   sign, no softmax softmax  y = sum_k softmax(A[c])_k x_k
// The honest picture of `free` is |A[c] * w|, since w trades scale with A; both are reported. 49
// and 40 parameters for 5 contexts and 8 positions. After the PyTorch tutorial on
// attention.
#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include "fovea/base/options.h"
#include "fovea/kernels/context_attention/context_attention.h"
#include "fovea/models/model.h"

namespace fovea {

struct ContextAttentionOptions {
  std::string name = "free";  // free or softmax
  void describe(OptionList& list);
  bool is_free() const { return name == "free"; }
};

/// What the data decides.
struct ContextAttentionShape {
  int64_t contexts = 0, positions = 0;
};

class ContextAttention : public Model {
 public:
  ContextAttention(ContextAttentionOptions options, ContextAttentionShape shape);
  const ContextAttentionOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;
  bool has_fused_path() const override { return options_.is_free(); }
  double train_block(const TrainBlock& block, BlockOptimiser& optimiser) override;

 private:
  at::Tensor values(const Batch& batch, Tap* tap) const;  // [B, 1]

  ContextAttentionOptions options_;
  kernels::ContextShape shape_;
  torch::nn::Embedding attention_{nullptr};
  torch::nn::Linear output_{nullptr};  // free only
};

}  // namespace fovea
