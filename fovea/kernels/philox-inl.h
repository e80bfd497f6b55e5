// Philox4x32-10 for as many counters at once as there are lanes; the same bits as philox.h on every
// instruction set.
#pragma once

#include "fovea/kernels/simd.h"

namespace fovea::kernels {
namespace {

typedef uint32_t WordLanes __attribute__((vector_size(4 * FOVEA_LANES)));
typedef uint64_t WideLanes __attribute__((vector_size(4 * FOVEA_LANES)));

/// The whole 64-bit products of the lower halves; what stands in the upper halves does not matter.
inline WideLanes wide_product(WideLanes a, WideLanes b) {
#if defined(__SSE2__) && FOVEA_LANES == 16
  // GCC 12 warns about its own header where no mask is given.
  return (WideLanes)_mm512_maskz_mul_epu32(255, (__m512i)a, (__m512i)b);
#elif defined(__SSE2__) && FOVEA_LANES == 8
  return (WideLanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && FOVEA_LANES == 4
  return (WideLanes)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

/// Half of the blocks of a vector, each in one 64-bit lane of which only the lower half counts: a
/// product's high word then needs one shift and its low word nothing at all.
struct PhiloxHalf {
  WideLanes c0, c1, c2, c3;

  void round(WideLanes k0, WideLanes k1) {
    const WideLanes p0 = wide_product(c0, 0xD2511F53u - WideLanes{});
    const WideLanes p1 = wide_product(c2, 0xCD9E8D57u - WideLanes{});
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c1 = p1;
    c3 = p0;
  }
};

inline WordLanes interleaved(WideLanes even, WideLanes odd) {
  return (WordLanes)((even & 0xFFFFFFFFu) | (odd << 32));
}

struct PhiloxLanes {
  WordLanes words[4];
};

/// The blocks of the even lanes and of the odd ones, after ten rounds.
inline PhiloxLanes philox_rounds(PhiloxHalf even, PhiloxHalf odd, uint64_t key) {
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
#pragma GCC unroll 10
  for (int i = 0; i < 10; ++i) {
    even.round(k0 - WideLanes{}, k1 - WideLanes{});
    odd.round(k0 - WideLanes{}, k1 - WideLanes{});
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{interleaved(even.c0, odd.c0), interleaved(even.c1, odd.c1), interleaved(even.c2, odd.c2),
           interleaved(even.c3, odd.c3)}};
}

/// 0, 2, 4, … over the 64-bit lanes.
inline WideLanes even_numbers() {
  WideLanes numbers{};
  for (int64_t i = 0; i < kLanes / 2; ++i) numbers[i] = static_cast<uint64_t>(2 * i);
  return numbers;
}

/// Lane i holds the block with counter_low + i. `counter_low` is a multiple of kLanes.
inline PhiloxLanes philox_lanes(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  const WideLanes c0 = even_numbers() + uint32_t(counter_low),
                  c1 = (counter_low >> 32) - WideLanes{}, c2 = uint32_t(counter_high) - WideLanes{},
                  c3 = (counter_high >> 32) - WideLanes{};
  return philox_rounds({c0, c1, c2, c3}, {c0 + 1, c1, c2, c3}, key);
}

/// Lane i holds the block with counter_high + i.
inline PhiloxLanes philox_rows(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  const WideLanes c0 = uint32_t(counter_low) - WideLanes{}, c1 = (counter_low >> 32) - WideLanes{},
                  c2 = even_numbers() + counter_high;
  return philox_rounds({c0, c1, c2, c2 >> 32}, {c0, c1, c2 + 1, (c2 + 1) >> 32}, key);
}

}  // namespace
}  // namespace fovea::kernels
