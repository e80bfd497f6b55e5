// Networks for tables. Every column c becomes a vector e_c (table_embedding.h), C columns of width
// d.
//   attention    a = softmax(W x + b);  h = [C a_c e_c]_c    one weight per column and row; even
//                attention, 1 / C, leaves the columns as they are, however many there are
//   transformer  columns look at each other in layers, then a class token at them: its attention is
//                the picture. FT-Transformer, Gorishniy et al. 2021, with the class token after the
//                layers, as Touvron et al. 2021 have it
//   plain        h = [e_c]_c
//   linear       logistic or ridge regression on the plain inputs (values and categories), with the
//                penalty |w|^2 / 2N, as scikit-learn's C = 1 and alpha = 1
// All but linear go on with hidden layers relu(W h + b) and one output for each member, and add
// linear's outputs: what is linear in the data need not be learned by the layers.
// What each column adds to the answer, the picture of plain and linear, which look at nothing, are
// integrated gradients (Sundararajan et al. 2017) along the line from a row of means,
//   c_i = (x_i - m_i) * mean over t of dF / dx_i (m + t (x - m)),   F = log p / (1 - p) or the
//   value
// They sum to F(x) - F(m); of a linear F they are w_i (x_i - m_i).
// An ensemble in one network (TabM, Gorishniy et al. 2024): member k scales h by its own r_k, and
// the scores of attention by t_k, shares the hidden layers, and has outputs of its own. Losses of
// the members are averaged in training, their answers in prediction.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/attention/multi_head.h"
#include "fovea/attention/projection.h"
#include "fovea/models/model.h"
#include "fovea/models/table_answers.h"
#include "fovea/models/table_embedding.h"
#include "fovea/models/table_shape.h"
#include "fovea/nn/ops/layer_norm.h"
#include "fovea/nn/transformer/transformer_stack.h"

namespace fovea {

struct TableNetworkOptions {
  std::string name = "attention";  // attention, transformer, plain or linear
  int64_t width = 0;               // d; 0: by the number of columns
  std::vector<int64_t> hidden = {256, 256};
  double dropout = 0.1;
  int64_t members = 8;  // K
  double entropy_penalty = 0.03;
  NormaliserOptions normaliser;
  int64_t layers = 2, heads = 8;  // of transformer
  std::string pruned_heads;       // attention/pruned_heads.h
  TableLossOptions loss;
  void describe(OptionList& list);
  bool members_attend() const { return attends() && members > 1; }        // each on its own
  bool attends() const { return name == "attention" || name == "auto"; }  // until auto has chosen
  bool is_transformer() const { return name == "transformer"; }
  bool is_linear() const { return name == "linear"; }
};

class TableNetwork : public Model {
 public:
  TableNetwork(TableNetworkOptions options, FeatureShape shape);
  const TableNetworkOptions& options() const { return options_; }  // with width, as it is
  const FeatureShape& shape() const { return shape_; }

  /// Whether a convex problem decides all weights: linear, with the usual loss.
  bool is_convex() const {
    return options_.is_linear() &&
           (shape_.loss != kernels::TabularLoss::SquaredError || options_.loss.loss == "squared");
  }
  /// Weights [O, P] and biases [O] of linear.
  void set_linear(const at::Tensor& weight, const at::Tensor& bias);

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;
  std::vector<HeadBlock> head_blocks() const override;
  /// What each column adds to the answers, of any of the networks. inputs [B, I] -> [B, C]
  at::Tensor contributions(const at::Tensor& inputs, const Predictions& predictions) const;

  static constexpr const char* kMap = "attention";       // what looks at columns for the answer
  static constexpr const char* kColumnsMap = "columns";  // transformer: columns at each other
  static constexpr const char* kContributions = "contributions";  // plain, linear

 private:
  struct Pass {
    const Random* random = nullptr;  // null: nothing is dropped
    Tap* tap = nullptr;
    at::Tensor entropy = {};  // of the attention, if it is asked for: mean over rows, of at most 1
  };
  int64_t columns() const { return int64_t(shape_.columns.size()); }
  at::Tensor outputs(const at::Tensor& inputs, Pass& pass) const;  // [B, I] -> [B, K, O]
  at::Tensor linear_outputs(const at::Tensor& inputs) const;       // [B, I] -> [B, O]
  /// inputs [B, I], embedded [B, C, d] -> [B, K, C d]
  at::Tensor look_at_columns(const at::Tensor& inputs, const at::Tensor& embedded,
                             Pass& pass) const;
  at::Tensor class_token(const at::Tensor& embedded,
                         const Pass& pass) const;  // [B, C, d] -> [B, 1, d]

  TableNetworkOptions options_;
  FeatureShape shape_;
  TableLoss loss_;
  at::Tensor plain_inputs_;  // [P] int64, no parameter
  at::Tensor input_means_;   // [I], no parameter
  std::shared_ptr<Projection> linear_;
  std::shared_ptr<ColumnEmbedding> columns_;
  std::vector<std::shared_ptr<Projection>> score_;  // attention: W, or two factors of it
  std::shared_ptr<TransformerEncoder> encoder_;     // transformer
  std::shared_ptr<MultiHeadAttention> class_attention_;
  std::shared_ptr<LayerNorm> class_norm_;
  at::Tensor class_token_;  // [d]
  // For K > 1: r [K, width of h], t [K, C], and what is added to the scores [K, C].
  at::Tensor member_scales_, score_scales_, score_biases_;
  std::vector<std::shared_ptr<Projection>> hidden_;
  at::Tensor output_weight_, output_bias_;  // [K, H, O], [K, 1, O]
};

}  // namespace fovea
