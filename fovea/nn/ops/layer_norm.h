// Layer normalisation (Ba et al. 2016) with PyTorch's parameter names, alone and with the addition
// that stands in front of it in a Transformer:
//   y = (z - mean(z)) / sqrt(var(z) + epsilon) * weight + bias,   z = x or residual + dropout(x)
// Float32 on a CPU, and widths that fit on a GPU, go through kernels/layer_norm, one pass each way;
// everything else, and gradients of gradients, through readable tensor operations. Both agree
// within rounding; on a CPU they drop the same elements. On a GPU the norm is bfloat16 in a bf16
// scope, the sum float32.
#pragma once

#include "fovea/nn/ops/norm.h"

namespace fovea {

class LayerNorm : public Norm {
 public:
  explicit LayerNorm(int64_t width, double epsilon = 1e-5);
  void initialise() override;
  at::Tensor forward(const at::Tensor& x) const override;
  AddedNorm add(const at::Tensor& residual, const at::Tensor& x, double rate, const Random* random,
                bool is_residual = false) const override;

  double epsilon() const { return epsilon_; }

  at::Tensor weight;  // [width], ones at first
  at::Tensor bias;    // [width], zeros at first

 private:
  void check(const at::Tensor& x) const;

  double epsilon_;
};

}  // namespace fovea
