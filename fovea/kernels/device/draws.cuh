// The device side of draws.h.
#pragma once

#include "fovea/kernels/device/draws.h"

namespace fovea::kernels::device {

struct Words {
  uint32_t at[4];
};

/// Philox 4x32 with ten rounds (Salmon et al. 2011).
__device__ inline Words philox(uint64_t key, uint64_t low, uint64_t high) {
  uint32_t a = uint32_t(low), b = uint32_t(low >> 32), c = uint32_t(high), d = uint32_t(high >> 32);
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint32_t high0 = __umulhi(0xD2511F53u, a), low0 = 0xD2511F53u * a;
    const uint32_t high1 = __umulhi(0xCD9E8D57u, c), low1 = 0xCD9E8D57u * c;
    a = high1 ^ b ^ k0, b = low1, c = high0 ^ d ^ k1, d = low0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}

/// Seed and offset, wherever they are.
struct Drawer {
  uint64_t seed, offset;

  __device__ explicit Drawer(const Draws& draws)
      : seed(draws.seed_at ? uint64_t(*draws.seed_at) : draws.seed),
        offset(draws.offset_at ? uint64_t(*draws.offset_at) + draws.offset_in_recording
                               : draws.offset) {}

  __device__ Words words(uint64_t group) const { return philox(seed, offset / 4, group); }
};

}  // namespace fovea::kernels::device
