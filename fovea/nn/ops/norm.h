// What a Transformer's layers are normalised with, alone and with the addition that stands in front
// of it:
//   layer  (z - mean(z)) / sqrt(var(z) + epsilon) * weight + bias        layer_norm.h
//   rms    z / sqrt(mean(z^2) + epsilon) * weight                        rms_norm.h
// z is x, or residual + dropout(x).
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>

#include "fovea/tensor/random.h"

namespace fovea {

/// residual + dropout(x) and what the norm makes of it.
struct AddedNorm {
  at::Tensor sum;     // [..., width]
  at::Tensor output;  // [..., width]
};

class Norm : public torch::nn::Module {
 public:
  virtual void initialise() = 0;  // ones and zeros

  /// x [..., width] -> [..., width]
  virtual at::Tensor forward(const at::Tensor& x) const = 0;

  /// The norm of residual + dropout(x); without `random` nothing is dropped. On a GPU the output is
  /// rounded in a bf16 scope, as what multiplies it would do, unless it is the next residual.
  virtual AddedNorm add(const at::Tensor& residual, const at::Tensor& x, double rate,
                        const Random* random, bool is_residual = false) const = 0;
};

/// "layer" or "rms".
std::shared_ptr<Norm> make_norm(const std::string& name, int64_t width, double epsilon);

/// residual + dropout(x) without a norm behind it; without `random` nothing is dropped.
at::Tensor add_dropped(const at::Tensor& residual, const at::Tensor& x, double rate,
                       const Random* random);

}  // namespace fovea
