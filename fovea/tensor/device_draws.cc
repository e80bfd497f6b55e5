#include "fovea/tensor/device_draws.h"

#include "fovea/base/error.h"
#include "fovea/kernels/dropout/dropout.h"
#include "fovea/tensor/random.h"

#ifdef FOVEA_WITH_CUDA
#include <ATen/cuda/CUDAGeneratorImpl.h>
#endif

namespace fovea {

namespace {

#ifdef FOVEA_WITH_CUDA
constexpr uint64_t kWordsOfGroup = 4;

kernels::device::Draws next_draws(const at::Device& device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  const at::PhiloxCudaState state =
      at::check_generator<at::CUDAGeneratorImpl>(generator)->philox_cuda_state(kWordsOfGroup);
  kernels::device::Draws draws;
  if (state.captured_) {
    draws.seed_at = state.seed_.ptr, draws.offset_at = state.offset_.ptr;
    draws.offset_in_recording = state.offset_intragraph_;
  } else {
    draws.seed = state.seed_.val, draws.offset = state.offset_.val;
  }
  return draws;
}
#else
kernels::device::Draws next_draws(const at::Device&) {
  fail(ErrorKind::Unsupported, "this build has no CUDA");
}
#endif

}  // namespace

kernels::device::DeviceDropout device_dropout(const at::Device& device, double rate, uint64_t key) {
  kernels::device::DeviceDropout dropout;
  if (rate == 0) return dropout;
  seed_device(device, key);
  dropout.draws = next_draws(device);
  const kernels::Dropout same(rate, key);
  dropout.threshold = same.threshold, dropout.scale = same.scale;
  return dropout;
}

}  // namespace fovea
