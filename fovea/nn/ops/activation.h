// The first half of a feed-forward block, or a readout: dropout(act(x W^T + b)) with
//   relu  max(u, 0)
//   gelu  u Phi(u), Phi the normal distribution function: the exact form, as BERT has it
//   tanh  tanh(u)
// Float32 on a CPU, and rows of whole packs on a GPU, add the bias, apply the activation and drop
// in one pass, and take the gradients in one (kernels/activation); everything else, and gradients
// of gradients, goes through readable tensor operations.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "fovea/kernels/activation/activation.h"
#include "fovea/tensor/random.h"

namespace fovea {

using kernels::Activation;

/// "relu" or "gelu".
Activation activation_named(const std::string& name);
bool has_kernel(const std::string& name);

/// By name, through tensor operations: those, and
///   gelu-tanh  gelu with tanh in place of Phi, as GPT-2 has it
///   silu       u / (1 + exp(-u)), as Llama has it
at::Tensor activate(const at::Tensor& u, const std::string& name);

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
