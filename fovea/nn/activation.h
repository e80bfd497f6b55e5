// The first half of a feed-forward part, or a readout: dropout(act(x W^T + b)) with
//   relu  max(u, 0)
//   gelu  u Phi(u), Phi the normal distribution function: the exact form, as BERT has it
//   tanh  tanh(u)
// On a CPU, float32 adds the bias, applies the activation and drops in one pass, and takes the
// gradients in one (kernels/activation); everything else, and gradients of gradients, goes through
// readable tensor operations. So does a GPU, by activation_device.h, where rows are whole packs.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "fovea/core/random.h"
#include "fovea/kernels/activation/activation.h"

namespace fovea {

using kernels::Activation;

/// "relu" or "gelu".
Activation activation_named(const std::string& name);

/// act(x + bias): x [..., width], bias [width] -> [..., width]
at::Tensor activate(const at::Tensor& x, const at::Tensor& bias, Activation kind);

/// dropout(act(x weight^T + bias)): x [..., in], weight [out, in], bias [out] or undefined ->
/// [..., out];
/// without `random` nothing is dropped. The product is not kept where the gradient can do without
/// it (relu).
at::Tensor activated_projection(const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias, Activation kind, double rate = 0,
                                const Random* random = nullptr);

}  // namespace fovea
