// Walking over a row whose length need not be a whole number of vectors. In the last columns, fewer
// than a vector holds, the lanes beyond the end read as 0 and are not written.
#pragma once

#include "fovea/kernels/lanes-inl.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__) && FOVEA_LANES == 16

inline __mmask16 first_lanes(int64_t count) {
  return static_cast<__mmask16>((1u << count) - 1);
}
inline Lanes load(const float* from, int64_t count) {
  return (Lanes)_mm512_maskz_loadu_ps(first_lanes(count), from);
}
inline void store(float* to, Lanes lanes, int64_t count) {
  _mm512_mask_storeu_ps(to, first_lanes(count), (__m512)lanes);
}

#else

inline Lanes load(const float* from, int64_t count) {
#if defined(__AVX2__) && FOVEA_LANES == 8
  const IntLanes wanted = IntLanes{0, 1, 2, 3, 4, 5, 6, 7} < static_cast<int32_t>(count);
  return (Lanes)_mm256_maskload_ps(from, (__m256i)wanted);
#else
  Lanes lanes{};
  __builtin_memcpy(&lanes, from, static_cast<uint64_t>(count) * sizeof(float));
  return lanes;
#endif
}
inline void store(float* to, Lanes lanes, int64_t count) {
  __builtin_memcpy(to, &lanes, static_cast<uint64_t>(count) * sizeof(float));
}

#endif

/// The first `count` lanes, and 0 after them.
inline Lanes first_of(Lanes lanes, int64_t count) {
  Lanes first{};
  __builtin_memcpy(&first, &lanes, static_cast<uint64_t>(count) * sizeof(float));
  return first;
}

/// A sum over a row needs several accumulators, or each addition waits for the one before.
constexpr int64_t kSlots = 4;

struct Accumulator {
  Lanes slots[kSlots] = {};

  float total() const { return sum((slots[0] + slots[1]) + (slots[2] + slots[3])); }
};

/// Calls work(column, slot) for whole vectors of columns, with slots 0, 1, 2, 3, 0, …, and
/// rest(column, count) for the columns left over.
template <class Work, class Rest>
inline void for_columns(int64_t columns, Work work, Rest rest) {
  int64_t column = 0;
  for (; column + kSlots * kLanes <= columns; column += kSlots * kLanes)
#pragma GCC unroll 4
    for (int64_t slot = 0; slot < kSlots; ++slot) work(column + slot * kLanes, slot);
  for (; column + kLanes <= columns; column += kLanes) work(column, int64_t{0});
  if (column < columns) rest(column, columns - column);
}

}  // namespace
