// Feature attention of the Keras tutorial on attention for dense layers: a softmax vector that
// weighs the columns of a table, and the two networks to hold it against.
//   tutorial         a = softmax(W x + b);  y = f(a * x)   one weight per column, shared by all
//                    inputs of its encoding
//   tutorial-plain   y = f(x), with hidden layers
//   tutorial-linear  y = w . x + c                          logistic or linear regression
// f: hidden layers h = relu(W h + b), then one output (two classes: its logit; a number) or one per
// class. With 10 columns and no hidden layer attention has (10*10 + 10) + (10 + 1) = 121
// parameters. a depends on the whole x, so the network is not linear. Many columns shrink what the
// layers see, x / C at first: table_network.h is for data.
#pragma once

#include <torch/nn/modules/linear.h>

#include "fovea/attention/normaliser.h"
#include "fovea/base/options.h"
#include "fovea/kernels/tabular_net/tabular_net.h"
#include "fovea/models/model.h"
#include "fovea/models/table_shape.h"

namespace fovea {

struct FeatureAttentionOptions {
  std::string name = "tutorial";  // tutorial, tutorial-plain or tutorial-linear
  std::vector<int64_t>
      hidden;  // widths; plain without any gets one layer with attention's number of parameters
  double dropout = 0;  // after each hidden layer
  NormaliserOptions normaliser;
  void describe(OptionList& list);
  bool has_attention() const { return name == "tutorial"; }
};

class FeatureAttention : public Model {
 public:
  FeatureAttention(FeatureAttentionOptions options, FeatureShape shape);
  const FeatureAttentionOptions& options() const { return options_; }
  const FeatureShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;
  bool has_fused_path() const override;
  double train_block(const TrainBlock& block, BlockOptimiser& optimiser) override;

 private:
  at::Tensor outputs(const at::Tensor& inputs, const Random* random,
                     Tap* tap) const;  // [B, I] -> [B, O]

  FeatureAttentionOptions options_;
  FeatureShape shape_;
  kernels::TabularShape kernel_shape_;
  at::Tensor column_of_input_;  // [I] int64, a buffer that is not saved: the encoder knows it
  torch::nn::Linear attention_{nullptr}, output_{nullptr};
  std::vector<torch::nn::Linear> hidden_;
};

}  // namespace fovea
