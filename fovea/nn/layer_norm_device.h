// The norm of nn/layer_norm.h, and the sum in front of it alone, by kernels/device/layer_norm, for
// tensors on a GPU. Private to this folder.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace fovea {

/// What a norm does besides its parameters.
struct DeviceNormSettings {
  double epsilon = 0, rate = 0;
  uint64_t key = 0;
  bool stays_wide = false;  // y is float32 in any scope
};

bool device_norm_takes(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight,
                       const at::Tensor& bias);

/// {y} without a residual, else {y, z = residual + dropout(x)}. In a bf16 scope y is bfloat16: what
/// follows is a product that would round it; z is float32. Differentiable once.
std::vector<at::Tensor> device_norm(const at::Tensor& x, const at::Tensor& residual,
                                    const at::Tensor& weight, const at::Tensor& bias,
                                    const DeviceNormSettings& how);

bool device_sum_takes(const at::Tensor& residual, const at::Tensor& x);

/// residual + dropout(x) in float32. Differentiable once.
at::Tensor device_dropped_sum(const at::Tensor& residual, const at::Tensor& x, double rate,
                              uint64_t key);

}  // namespace fovea
