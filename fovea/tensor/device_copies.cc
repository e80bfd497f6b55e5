#include "fovea/tensor/device_copies.h"

#ifdef FOVEA_WITH_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace fovea {

#ifdef FOVEA_WITH_CUDA

struct DeviceCopies::Stream {
  c10::cuda::CUDAStream own = c10::cuda::getStreamFromPool();
};

DeviceCopies::DeviceCopies(const at::Device& device) : device_(device) {
  if (device.is_cuda()) stream_ = std::make_unique<Stream>();
}

Batch DeviceCopies::begin(const Batch& batch) {
  if (!stream_) return batch.to(device_);
  const c10::cuda::CUDAStream user = c10::cuda::getCurrentCUDAStream();
  const c10::cuda::CUDAStreamGuard elsewhere(stream_->own);
  Batch moved{{}, batch.size};
  for (const auto& [name, tensor] : batch.tensors) {
    moved.tensors[name] = tensor.pin_memory().to(device_, /*non_blocking=*/true);
    moved.tensors[name].record_stream(user);  // its memory is free when the user is done
  }
  return moved;
}

void DeviceCopies::wait() {
  if (!stream_) return;
  at::cuda::CUDAEvent arrived;
  arrived.record(stream_->own);
  arrived.block(c10::cuda::getCurrentCUDAStream());
}

#else

struct DeviceCopies::Stream {};

DeviceCopies::DeviceCopies(const at::Device& device) : device_(device) {}

Batch DeviceCopies::begin(const Batch& batch) {
  return batch.to(device_);
}

void DeviceCopies::wait() {}

#endif

DeviceCopies::~DeviceCopies() = default;

}  // namespace fovea
