// Philox4x32-10 (Salmon et al. 2011): four random words that depend on nothing but a key and a
// counter. philox-inl.h has the same block for many counters at once.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct PhiloxBlock {
  uint32_t words[4];
};

/// Ten rounds of two 32x32-bit products. Static, since files built for AVX include it too and the
/// linker must not take their copy for everybody's.
static inline PhiloxBlock philox(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  uint32_t c0 = uint32_t(counter_low), c1 = uint32_t(counter_low >> 32);
  uint32_t c2 = uint32_t(counter_high), c3 = uint32_t(counter_high >> 32);
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c0, p1 = uint64_t{0xCD9E8D57} * c2;
    c0 = uint32_t(p1 >> 32) ^ c1 ^ k0;
    c2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
    c1 = uint32_t(p1);
    c3 = uint32_t(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace fovea::kernels
