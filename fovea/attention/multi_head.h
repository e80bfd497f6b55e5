// Multi-head attention, Vaswani et al. 2017: head_h = attend(Q W^Q_h, K W^K_h, V W^V_h), output =
// concat(heads) W^O. The parameters have the names and layouts of torch.nn.MultiheadAttention
// (in_proj_weight [3D, D] = W^Q, W^K, W^V one under the other; in_proj_bias; out_proj.weight;
// out_proj.bias), so its state_dict fits. Any score and normaliser can stand inside.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>

#include "fovea/attention/attend.h"
#include "fovea/attention/projection.h"

namespace fovea {

struct MultiHeadOptions {
  int64_t width = 64;  // D
  int64_t heads = 4;   // must divide the width
  double dropout = 0;  // of the weights, in training
  bool bias = true;
  ScoreOptions score;  // query_size and key_size are set to D / heads
  NormaliserOptions normaliser;
  void describe(OptionList& list);
};

struct MultiHeadInput {
  at::Tensor query;                      // [B, Q, D]
  Memory memory;                         // from MultiHeadAttention::remember()
  KeepMask mask;                         // of this call, on top of the memory's
  const Alignment* alignment = nullptr;  // null: global
  int64_t first_position = 0;
  std::optional<Random> random;  // for dropout in training, and for hard and gumbel
  MapLabel map;
};

class MultiHeadAttention : public torch::nn::Module {
 public:
  MultiHeadAttention(const MultiHeadOptions& options, const Random& random);

  /// Projects keys and values [B, K, D] once; a decoder keeps the result. A mask that depends on
  /// the query may be given here or in the input of forward().
  Memory remember(const at::Tensor& keys, const at::Tensor& values, const KeepMask& mask) const;

  /// context [B, Q, D], weights [B, H, Q, K]. A query that sees nothing gets 0, not the bias of
  /// out_proj.
  Attended forward(const MultiHeadInput& input, Tap* tap = nullptr) const;

  at::Tensor in_proj_weight;  // [3 D, D]
  at::Tensor in_proj_bias;    // [3 D], undefined without bias
  std::shared_ptr<Projection> out_proj;

 private:
  enum Part { kQuery, kKey, kValue };
  at::Tensor project(const at::Tensor& x, Part part) const;
  MultiHeadOptions options_;
  std::shared_ptr<ScoreFunction> score_;
};

}  // namespace fovea
