// __Name__: one learned weight per input, the same for every row.
//   a = softmax(b);  y = W (a * x) + c
#pragma once

#include <torch/nn/modules/linear.h>

#include "fovea/base/options.h"
#include "fovea/models/feature_attention.h"

namespace fovea {

struct __Name__Options {
  std::string name = "__name__";
  double temperature = 1;
  void describe(OptionList& list);
};

class __Name__ : public Model {
 public:
  __Name__(__Name__Options options, FeatureShape shape);
  const FeatureShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 private:
  at::Tensor outputs(const at::Tensor& inputs, Tap* tap) const;  // [B, I] -> [B, O]

  __Name__Options options_;
  FeatureShape shape_;
  at::Tensor logits_;  // b [C]
  torch::nn::Linear output_{nullptr};
};

}  // namespace fovea
