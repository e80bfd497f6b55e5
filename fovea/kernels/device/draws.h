// Random words on a GPU. Word w of element group g in a call is word w of the Philox block
//   philox(key = seed, counter = (offset / 4, g)),
// so that a backward pass draws what the forward pass drew, and nobody stores a mask. Seed and
// offset are LibTorch's generator's (tensor/device_draws.h). While steps are recorded they are
// known only when the recording is repeated: then they are read on the GPU.
#pragma once

#include <cstdint>

namespace fovea::kernels::device {

struct Draws {
  uint64_t seed = 0, offset = 0;
  const int64_t *seed_at = nullptr, *offset_at = nullptr;  // in a recording: in place of the two
  uint64_t offset_in_recording = 0;                        // added to what stands there
};

/// y = x / (1 - rate) where an element is kept, else 0. Elements 4 g to 4 g + 3 of a tensor have
/// the four words of group g; one is dropped when its word is below the threshold.
struct DeviceDropout {
  Draws draws;
  uint32_t threshold = 0;  // round(rate 2^32); 0: everything is kept
  float scale = 1;         // 1 / (1 - rate)
};

}  // namespace fovea::kernels::device
