// Tensors as the kernels of a GPU take them (kernels/device).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "fovea/kernels/device/number_type.h"

namespace fovea {

/// This build has such kernels, nobody asked for readable operations, and all tensors are float32
/// or bfloat16 on a GPU. Those that are not defined do not count.
bool device_kernels_take(const std::vector<at::Tensor>& tensors);

kernels::device::NumberType number_type_of(const at::Tensor& x);

/// x with its numbers in order from a multiple of 16 bytes on: itself where they already are so.
at::Tensor in_whole_packs(const at::Tensor& x);

}  // namespace fovea
