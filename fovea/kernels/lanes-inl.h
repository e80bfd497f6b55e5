// The vector type of the -inl.h files. The including file defines FOVEA_LANES (floats per vector)
// and is compiled for an instruction set that has such vectors; everything here has internal
// linkage.
#pragma once

#include <stdint.h>

typedef float Lanes __attribute__((vector_size(4 * FOVEA_LANES)));
typedef int32_t IntLanes __attribute__((vector_size(4 * FOVEA_LANES)));

namespace {

constexpr int64_t kLanes = FOVEA_LANES;

inline Lanes all(float value) {
  return value - Lanes{};
}

inline Lanes load(const float* from) {
  Lanes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline void store(float* to, Lanes lanes) {
  __builtin_memcpy(to, &lanes, sizeof lanes);
}

constexpr int64_t kLine = 16;  // floats in a line of the cache

/// Asks for a line that is used soon. Without the empty statement GCC takes a function that only
/// asks for one without effect, and leaves its calls out.
inline void ask_for_line(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

// A NaN in `b` comes out, one in `a` does not: a diverged network must show in its loss.
inline Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}
inline Lanes smaller(Lanes a, Lanes b) {
  return a < b ? a : b;
}

/// Adds halves to halves, in registers.
inline float sum(Lanes lanes) {
  typedef float Four __attribute__((vector_size(16)));
  Four parts[kLanes / 4];
  __builtin_memcpy(parts, &lanes, sizeof lanes);
#pragma GCC unroll 4
  for (int64_t width = kLanes / 8; width > 0; width /= 2)
#pragma GCC unroll 4
    for (int64_t i = 0; i < width; ++i) parts[i] += parts[i + width];
  return (parts[0][0] + parts[0][2]) + (parts[0][1] + parts[0][3]);
}

/// Adding this puts a small float's nearest whole number into its lowest mantissa bits.
constexpr float kRound = 12582912.0f;  // 1.5 * 2^23

/// e^x to about 2 units in the last place; 0 below -87, finite above 88, NaN for NaN.
inline Lanes exponential(Lanes x) {
  const IntLanes tiny = x < all(-87.0f);
  x = smaller(all(88.0f), larger(all(-87.0f), x));
  const Lanes shifted = x * all(1.44269504f) + all(kRound);
  const Lanes whole = shifted - all(kRound);
  const Lanes r = (x - whole * all(0.693359375f)) + whole * all(2.12194440e-4f);
  Lanes p = all(1.9875691500e-4f);
  p = p * r + all(1.3981999507e-3f);
  p = p * r + all(8.3334519073e-3f);
  p = p * r + all(4.1665795894e-2f);
  p = p * r + all(1.6666665459e-1f);
  p = p * r + all(5.0000001201e-1f);
  p = p * r * r + r + all(1.0f);
  const IntLanes power = ((IntLanes)shifted - (IntLanes)all(kRound) + 127) << 23;
  const Lanes result = p * (Lanes)power;
  return tiny ? Lanes{} : result;
}

/// The natural logarithm of a positive normal number; NaN for NaN.
inline Lanes logarithm(Lanes x) {
  const IntLanes bits = (IntLanes)x;
  IntLanes exponent = ((bits >> 23) & 255) - 126;
  Lanes m = (Lanes)((bits & 0x007fffff) | 0x3f000000);  // in [0.5, 1)
  const IntLanes low = m < all(0.70710678f);
  exponent += low;  // true is -1
  m = low ? m + m : m;
  m -= all(1.0f);
  const Lanes z = m * m;
  Lanes p = all(7.0376836292e-2f);
  p = p * m - all(1.1514610310e-1f);
  p = p * m + all(1.1676998740e-1f);
  p = p * m - all(1.2420140846e-1f);
  p = p * m + all(1.4249322787e-1f);
  p = p * m - all(1.6668057665e-1f);
  p = p * m + all(2.0000714765e-1f);
  p = p * m - all(2.4999993993e-1f);
  p = p * m + all(3.3333331174e-1f);
  const Lanes e = __builtin_convertvector(exponent, Lanes);
  Lanes y = p * m * z;
  y += e * all(-2.12194440e-4f);
  y -= all(0.5f) * z;
  return x == x ? m + y + e * all(0.693359375f) : x;
}

}  // namespace
