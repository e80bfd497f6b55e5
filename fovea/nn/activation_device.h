// The activations of nn/activation.h by kernels/device/activation, for tensors on a GPU. Private to
// this folder.
#pragma once

#include <ATen/core/Tensor.h>

#include "fovea/nn/activation.h"

namespace fovea {

/// What follows a product.
struct DeviceActivationSettings {
  Activation kind = Activation::Relu;
  double rate = 0;
  uint64_t key = 0;
};

bool device_activation_takes(const at::Tensor& x, const at::Tensor& bias);

/// act(x + bias): x [..., width], bias [width] -> [..., width] in the type of x. Differentiable
/// once.
at::Tensor device_activate(const at::Tensor& x, const at::Tensor& bias, Activation kind);

bool device_projection_takes(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// dropout(act(x weight^T + bias)): x [N, in], weight [out, in], bias [out] or undefined ->
/// [N, out]; in a bf16 scope with rounded factors, and bfloat16. Differentiable once.
at::Tensor device_projection(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             const DeviceActivationSettings& how);

}  // namespace fovea
