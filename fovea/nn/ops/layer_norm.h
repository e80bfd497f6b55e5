// Layer normalisation (Ba et al. 2016) with PyTorch's parameter names, alone and with the addition
// that stands in front of it in a Transformer:
//   y = (z - mean(z)) / sqrt(var(z) + epsilon) * weight + bias,   z = x or residual + dropout(x)
// Float32 on a CPU, and widths that fit on a GPU, go through kernels/layer_norm, one pass each way;
// everything else, and gradients of gradients, through readable tensor operations. Both agree
// within rounding; on a CPU they drop the same elements. On a GPU the norm is bfloat16 in a bf16
// scope, the sum float32.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include "fovea/tensor/random.h"

namespace fovea {

/// residual + dropout(x) and what the norm makes of it.
struct AddedNorm {
  at::Tensor sum;     // [..., width]
  at::Tensor output;  // [..., width]
};

class LayerNorm : public torch::nn::Module {
 public:
  explicit LayerNorm(int64_t width, double epsilon = 1e-5);
  void initialise();  // ones and zeros

  /// x [..., width] -> [..., width]
  at::Tensor forward(const at::Tensor& x) const;

  /// The norm of residual + dropout(x); without `random` nothing is dropped. On a GPU the output is
  /// rounded in a bf16 scope, as what multiplies it would do, unless it is the next residual.
  AddedNorm add(const at::Tensor& residual, const at::Tensor& x, double rate, const Random* random,
                bool is_residual = false) const;

  double epsilon() const { return epsilon_; }

  at::Tensor weight;  // [width], ones at first
  at::Tensor bias;    // [width], zeros at first

 private:
  void check(const at::Tensor& x) const;

  double epsilon_;
};

/// residual + dropout(x) without a norm behind it; without `random` nothing is dropped.
at::Tensor add_dropped(const at::Tensor& residual, const at::Tensor& x, double rate,
                       const Random* random);

}  // namespace fovea
