// Rows of any number of units, a vector at a time, without padding: compiled once per instruction
// set.
#pragma once

#include "fovea/kernels/vectors-inl.h"

#if FOVEA_LANES > 4
#include <immintrin.h>
#endif

namespace {

/// A vector of units, or the last units of a row, fewer than a vector holds: lanes beyond the end
/// read as 0 and are not written.
struct Whole {};
struct Some {
  int64_t count;
};

inline Lanes load(const float* from, Whole) {
  return load(from);
}
inline void store(float* to, Lanes lanes, Whole) {
  store(to, lanes);
}

#if FOVEA_LANES == 16
inline __mmask16 mask_of(Some some) {
  return static_cast<__mmask16>((1u << some.count) - 1);
}
inline Lanes load(const float* from, Some some) {
  return (Lanes)_mm512_maskz_loadu_ps(mask_of(some), from);
}
inline void store(float* to, Lanes lanes, Some some) {
  _mm512_mask_storeu_ps(to, mask_of(some), (__m512)lanes);
}
#elif FOVEA_LANES == 8
inline __m256i mask_of(Some some) {
  return (__m256i)(lane_numbers<float>() < static_cast<int32_t>(some.count) - IntLanes{});
}
inline Lanes load(const float* from, Some some) {
  return (Lanes)_mm256_maskload_ps(from, mask_of(some));
}
inline void store(float* to, Lanes lanes, Some some) {
  _mm256_maskstore_ps(to, mask_of(some), (__m256)lanes);
}
#else
inline Lanes load(const float* from, Some some) {
  Lanes lanes{};
  __builtin_memcpy(&lanes, from, static_cast<uint64_t>(some.count) * sizeof(float));
  return lanes;
}
inline void store(float* to, Lanes lanes, Some some) {
  __builtin_memcpy(to, &lanes, static_cast<uint64_t>(some.count) * sizeof(float));
}
#endif

/// work(unit, Whole or Some) for all units of a row.
template <class Work>
inline void for_units(int64_t units, Work work) {
  int64_t unit = 0;
  for (; unit + kLanes <= units; unit += kLanes) work(unit, Whole());
  if (unit < units) work(unit, Some{units - unit});
}

/// Asks for units that are read or written soon.
inline void ask_for(const float* from, int64_t units) {
  for (int64_t unit = 0; unit < units; unit += kLine) ask_for_line(from + unit);
}

inline void copy_units(const float* from, int64_t units, float* to) {
  for_units(units, [&](int64_t u, auto part) {
    store(to + u, from ? load(from + u, part) : Lanes{}, part);
  });
}

}  // namespace
