// The next random words of a GPU's generator, for kernels of ours (kernels/device/draws.h): in a
// recorded step they are other ones at each repetition, as those of LibTorch's own kernels are.
#pragma once

#include <ATen/core/Tensor.h>

#include "fovea/kernels/device/draws.h"

namespace fovea {

/// Which elements of a tensor on `device` are dropped; the generator is first set to `key`
/// (seed_device() in tensor/random.h). Rate 0: none. Unsupported in builds without CUDA.
kernels::device::DeviceDropout device_dropout(const at::Device& device, double rate, uint64_t key);

}  // namespace fovea
