// The loss of nn/cross_entropy.h by kernels/device/cross_entropy, for logits on a GPU.
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

/// Logits [N, V] that device_kernels_take() takes (core/device_tensor.h); targets int64 [N], each
/// below V; shares float32 [N]: the sum of all rows' losses, each times its share. Differentiable
/// once.
at::Tensor device_cross_entropy(const at::Tensor& logits, const at::Tensor& targets,
                                const at::Tensor& shares, double smoothing);

}  // namespace fovea
