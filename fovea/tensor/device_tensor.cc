#include "fovea/tensor/device_tensor.h"

#include <algorithm>

#include "fovea/kernels/device/device.h"
#include "fovea/tensor/kernel_path.h"

namespace fovea {

namespace {

constexpr uintptr_t kBytesOfPack = 16;

}  // namespace

bool device_kernels_take(const std::vector<at::Tensor>& tensors) {
  return kernels::device::exists() && !ReadableOnly::is_asked_for() &&
         std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& x) {
           return !x.defined() || (x.is_cuda() && (x.scalar_type() == at::kFloat ||
                                                   x.scalar_type() == at::kBFloat16));
         });
}

kernels::device::NumberType number_type_of(const at::Tensor& x) {
  using kernels::device::NumberType;
  return x.scalar_type() == at::kBFloat16 ? NumberType::BFloat16 : NumberType::Float32;
}

at::Tensor in_whole_packs(const at::Tensor& x) {
  const at::Tensor ordered = x.contiguous();
  const bool aligned = reinterpret_cast<uintptr_t>(ordered.data_ptr()) % kBytesOfPack == 0;
  return aligned ? ordered : ordered.clone();
}

}  // namespace fovea
