// Philox4x32-10 for as many counters at once as there are lanes; the same bits as philox.h on every
// instruction set. Included after lanes-inl.h.
#pragma once

#include <stdint.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef uint32_t WordLanes __attribute__((vector_size(4 * FOVEA_LANES)));
typedef uint64_t WideLanes __attribute__((vector_size(4 * FOVEA_LANES)));

namespace {

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

/// Lane i holds the block with counter_low + i. `counter_low` is a multiple of kLanes.
inline PhiloxLanes philox_lanes(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  WideLanes even;
  for (int64_t i = 0; i < kLanes / 2; ++i) even[i] = static_cast<uint64_t>(2 * i);
  even += uint32_t(counter_low) - WideLanes{};
  const WideLanes c1 = (counter_low >> 32) - WideLanes{}, c2 = uint32_t(counter_high) - WideLanes{},
                  c3 = (counter_high >> 32) - WideLanes{};
  PhiloxHalf first{even, c1, c2, c3}, second{even + 1, c1, c2, c3};
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
#pragma GCC unroll 10
  for (int i = 0; i < 10; ++i) {
    first.round(k0 - WideLanes{}, k1 - WideLanes{});
    second.round(k0 - WideLanes{}, k1 - WideLanes{});
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{interleaved(first.c0, second.c0), interleaved(first.c1, second.c1),
           interleaved(first.c2, second.c2), interleaved(first.c3, second.c3)}};
}

// Dropout, for every kernel and every tensor: element (row, column) is dropped when its word is
// below round(rate 2^32). The word is number (column % 64 / 16) of the block with
//   counter_low = column / 64 * 16 + column % 16,  counter_high = row,  key = the stream's,
// so that one block serves four columns and 16 blocks side by side give 64 columns in order.
constexpr int64_t kDropoutGroup = 64;  // columns
constexpr int64_t kDropoutVectors = kDropoutGroup / kLanes;

/// The words of columns 64 group … 64 group + 63 of `row`, in the order of the columns.
inline void dropout_words(uint64_t key, int64_t row, int64_t group,
                          WordLanes words[kDropoutVectors]) {
  constexpr int64_t kParts = 16 / kLanes;  // vectors that 16 blocks fill
#pragma GCC unroll 4
  for (int64_t part = 0; part < kParts; ++part) {
    const PhiloxLanes blocks = philox_lanes(static_cast<uint64_t>(group * 16 + part * kLanes),
                                            static_cast<uint64_t>(row), key);
#pragma GCC unroll 4
    for (int64_t n = 0; n < 4; ++n) words[n * kParts + part] = blocks.words[n];
  }
}

}  // namespace
