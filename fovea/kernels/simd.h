// Vectors for the <op>.cc files, which are compiled once per instruction set: GCC's vector types,
// as wide as FOVEA_LANES says, with the loads, sums, functions and loops that kernels are written
// with. Everything here has internal linkage, and nothing comes from the standard library.
#pragma once

#include <stdint.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef FOVEA_LANES
#define FOVEA_LANES 4  // floats per vector; the build says 8 for AVX2 and 16 for AVX-512
#endif

namespace fovea::kernels {
namespace {

// ---- Types ----

constexpr int64_t kLanes = FOVEA_LANES;

template <int64_t N>
struct VectorOf {
  typedef float Type __attribute__((vector_size(4 * N)));
};
template <>
struct VectorOf<1> {
  typedef float Type;
};

/// N floats, for rows that may be narrower than a vector of the instruction set: 1, 4, 8 or 16.
template <int64_t N>
using Vector = typename VectorOf<N>::Type;

typedef Vector<kLanes> Lanes;
typedef int32_t IntLanes __attribute__((vector_size(4 * FOVEA_LANES)));
typedef double DoubleLanes __attribute__((vector_size(4 * FOVEA_LANES)));
typedef int64_t LongLanes __attribute__((vector_size(4 * FOVEA_LANES)));

template <class T>
struct LanesOf;
template <>
struct LanesOf<float> {
  typedef Lanes Values;
  typedef IntLanes Integers;
  typedef int32_t Integer;
};
template <>
struct LanesOf<double> {
  typedef DoubleLanes Values;
  typedef LongLanes Integers;
  typedef int64_t Integer;
};

/// A whole vector of float or double, for kernels that are templates over the number type.
template <class T>
using Values = typename LanesOf<T>::Values;
template <class T>
using Integers = typename LanesOf<T>::Integers;
template <class T>
using Integer = typename LanesOf<T>::Integer;

/// Numbers per vector.
template <class T>
constexpr int64_t kWidth = 4 * FOVEA_LANES / static_cast<int64_t>(sizeof(T));

/// All lanes of a vector, or the first ones, fewer than it has: the others read as 0 and are not
/// written.
struct AllLanes {};
struct FirstLanes {
  int64_t count;
};

// ---- Loads and stores ----

template <class T>
inline Values<T> broadcast(T value) {
  return value - Values<T>{};
}

/// 0, 1, 2, … over the lanes.
template <class T>
inline Integers<T> lane_numbers() {
  Integers<T> numbers{};
  for (int64_t i = 0; i < kWidth<T>; ++i) numbers[i] = static_cast<Integer<T>>(i);
  return numbers;
}

template <class T>
inline Values<T> load(const T* from) {
  Values<T> lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <class T>
inline void store(T* to, Values<T> lanes) {
  __builtin_memcpy(to, &lanes, sizeof lanes);
}

template <int64_t N>
inline Vector<N> load(const float* from) {
  Vector<N> vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
template <int64_t N>
inline void store(float* to, Vector<N> vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

inline Lanes load(const float* from, AllLanes) {
  return load(from);
}
inline void store(float* to, Lanes lanes, AllLanes) {
  store(to, lanes);
}

inline IntLanes mask_of(FirstLanes first) {
  return lane_numbers<float>() < static_cast<int32_t>(first.count) - IntLanes{};
}

#if FOVEA_LANES == 16
inline __mmask16 bits_of(FirstLanes first) {
  return static_cast<__mmask16>((1u << first.count) - 1);
}
inline Lanes load(const float* from, FirstLanes first) {
  return (Lanes)_mm512_maskz_loadu_ps(bits_of(first), from);
}
inline void store(float* to, Lanes lanes, FirstLanes first) {
  _mm512_mask_storeu_ps(to, bits_of(first), (__m512)lanes);
}
#elif FOVEA_LANES == 8
inline Lanes load(const float* from, FirstLanes first) {
  return (Lanes)_mm256_maskload_ps(from, (__m256i)mask_of(first));
}
inline void store(float* to, Lanes lanes, FirstLanes first) {
  _mm256_maskstore_ps(to, (__m256i)mask_of(first), (__m256)lanes);
}
#else
inline Lanes load(const float* from, FirstLanes first) {
  Lanes lanes{};
  __builtin_memcpy(&lanes, from, static_cast<uint64_t>(first.count) * sizeof(float));
  return lanes;
}
inline void store(float* to, Lanes lanes, FirstLanes first) {
  __builtin_memcpy(to, &lanes, static_cast<uint64_t>(first.count) * sizeof(float));
}
#endif

/// What `others` holds, or 0, in the lanes that do not count.
inline Lanes with_others(Lanes lanes, AllLanes, Lanes) {
  return lanes;
}
inline Lanes with_others(Lanes lanes, FirstLanes first, Lanes others) {
  return mask_of(first) ? lanes : others;
}
template <class Which>
inline Lanes zero_others(Lanes lanes, Which which) {
  return with_others(lanes, which, Lanes{});
}

/// Fetches a line of the cache that is used soon. Without the empty statement GCC takes a function
/// that only prefetches for one without effect, and leaves its calls out.
inline void prefetch(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

/// The same for `count` floats.
inline void prefetch(const float* from, int64_t count) {
  constexpr int64_t kLine = 16;  // floats in a line of the cache
  for (int64_t i = 0; i < count; i += kLine) prefetch(from + i);
}

// ---- Loops over rows whose length need not be a whole number of vectors ----

/// work(i, AllLanes or FirstLanes), a vector at a time.
template <class Work>
inline void for_vectors(int64_t count, Work work) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) work(i, AllLanes{});
  if (i < count) work(i, FirstLanes{count - i});
}

/// A sum over a row needs several accumulators, or each addition waits for the one before.
constexpr int64_t kSlots = 4;

/// work(column, slot, AllLanes or FirstLanes), with slots 0, 1, 2, 3, 0, … and 0 for the last ones.
template <class Work>
inline void for_columns(int64_t columns, Work work) {
  int64_t column = 0;
  for (; column + kSlots * kLanes <= columns; column += kSlots * kLanes)
#pragma GCC unroll 4
    for (int64_t slot = 0; slot < kSlots; ++slot) work(column + slot * kLanes, slot, AllLanes{});
  for (; column + kLanes <= columns; column += kLanes) work(column, int64_t{0}, AllLanes{});
  if (column < columns) work(column, int64_t{0}, FirstLanes{columns - column});
}

/// to = from, or zeros where that is null.
inline void copy_row(const float* from, int64_t count, float* to) {
  for_vectors(count, [&](int64_t i, auto lanes) {
    store(to + i, from ? load(from + i, lanes) : Lanes{}, lanes);
  });
}

inline void fill_row(float* to, int64_t count, float value) {
  for (int64_t i = 0; i < count; ++i) to[i] = value;
}

/// The longest Vector<N> that a row of `count` numbers fills, up to one of the instruction set.
inline int64_t vector_for(int64_t count) {
  int64_t n = 1;
  for (int64_t longer = 4; longer <= kLanes && longer <= count; longer *= 2) n = longer;
  return n;
}

/// whole(i) for every N of 0 … count - 1, and single(i) for what is left.
template <int64_t N, class Whole, class Single>
inline void for_short_row(int64_t count, Whole whole, Single single) {
  int64_t i = 0;
  for (; i + N <= count; i += N) whole(i);
  if constexpr (N > 1)
    for (; i < count; ++i) single(i);
}

/// to[i] = work(from[i], …) with every argument a row of `count` numbers.
template <int64_t N, class Work, class... Rows>
inline void map_row(int64_t count, float* to, Work work, const Rows*... from) {
  for_short_row<N>(
      count, [&](int64_t i) { store<N>(to + i, work(load<N>(from + i)...)); },
      [&](int64_t i) { to[i] = work(from[i]...); });
}

// ---- Comparisons and sums ----

// A NaN in `b` comes out, one in `a` does not: a diverged network must show in its loss.
inline Lanes max(Lanes a, Lanes b) {
  return a > b ? a : b;
}
inline DoubleLanes max(DoubleLanes a, DoubleLanes b) {
  return a > b ? a : b;
}
inline Lanes min(Lanes a, Lanes b) {
  return a < b ? a : b;
}

/// The largest lane.
inline float largest(Lanes lanes) {
  float value = lanes[0];
  for (int64_t i = 1; i < kLanes; ++i) value = lanes[i] > value ? lanes[i] : value;
  return value;
}

/// Whether some lane of a comparison holds.
template <class Mask>
inline bool any(Mask mask) {
  uint64_t words[sizeof mask / 8], together = 0;
  __builtin_memcpy(words, &mask, sizeof mask);
  for (uint64_t word : words) together |= word;
  return together != 0;
}

/// Adds halves to halves, in registers.
inline float sum(float value) {
  return value;
}
template <class Floats>
inline float sum(Floats vector) {
  constexpr int64_t kFours = sizeof vector / 16;
  Vector<4> fours[kFours];
  __builtin_memcpy(fours, &vector, sizeof vector);
#pragma GCC unroll 4
  for (int64_t width = kFours / 2; width > 0; width /= 2)
#pragma GCC unroll 4
    for (int64_t i = 0; i < width; ++i) fours[i] += fours[i + width];
  return (fours[0][0] + fours[0][2]) + (fours[0][1] + fours[0][3]);
}

struct Accumulator {
  Lanes slots[kSlots] = {};

  float total() const { return sum((slots[0] + slots[1]) + (slots[2] + slots[3])); }
};

/// The sum of work(a[i], …) over a short row.
template <int64_t N, class Work, class... Rows>
inline float sum_row(int64_t count, Work work, const Rows*... from) {
  Vector<N> total{};
  float rest = 0;
  for_short_row<N>(
      count, [&](int64_t i) { total += work(load<N>(from + i)...); },
      [&](int64_t i) { rest += work(from[i]...); });
  return sum(total) + rest;
}

// ---- Functions ----

/// Adding this puts a small float's nearest whole number into its lowest mantissa bits.
constexpr float kRound = 12582912.0f;  // 1.5 * 2^23

/// e^x to about 2 units in the last place; 0 below -87, finite above 88, NaN for NaN.
inline Lanes exp(Lanes x) {
  const IntLanes tiny = x < broadcast(-87.0f);
  x = min(broadcast(88.0f), max(broadcast(-87.0f), x));
  const Lanes shifted = x * broadcast(1.44269504f) + broadcast(kRound);
  const Lanes whole = shifted - broadcast(kRound);
  const Lanes r = (x - whole * broadcast(0.693359375f)) + whole * broadcast(2.12194440e-4f);
  Lanes p = broadcast(1.9875691500e-4f);
  p = p * r + broadcast(1.3981999507e-3f);
  p = p * r + broadcast(8.3334519073e-3f);
  p = p * r + broadcast(4.1665795894e-2f);
  p = p * r + broadcast(1.6666665459e-1f);
  p = p * r + broadcast(5.0000001201e-1f);
  p = p * r * r + r + broadcast(1.0f);
  const IntLanes power = ((IntLanes)shifted - (IntLanes)broadcast(kRound) + 127) << 23;
  const Lanes result = p * (Lanes)power;
  return tiny ? Lanes{} : result;
}

/// The natural logarithm of a positive normal number; NaN for NaN.
inline Lanes log(Lanes x) {
  const IntLanes bits = (IntLanes)x;
  IntLanes exponent = ((bits >> 23) & 255) - 126;
  Lanes m = (Lanes)((bits & 0x007fffff) | 0x3f000000);  // in [0.5, 1)
  const IntLanes low = m < broadcast(0.70710678f);
  exponent += low;  // true is -1
  m = low ? m + m : m;
  m -= broadcast(1.0f);
  const Lanes z = m * m;
  Lanes p = broadcast(7.0376836292e-2f);
  p = p * m - broadcast(1.1514610310e-1f);
  p = p * m + broadcast(1.1676998740e-1f);
  p = p * m - broadcast(1.2420140846e-1f);
  p = p * m + broadcast(1.4249322787e-1f);
  p = p * m - broadcast(1.6668057665e-1f);
  p = p * m + broadcast(2.0000714765e-1f);
  p = p * m - broadcast(2.4999993993e-1f);
  p = p * m + broadcast(3.3333331174e-1f);
  const Lanes e = __builtin_convertvector(exponent, Lanes);
  Lanes y = p * m * z;
  y += e * broadcast(-2.12194440e-4f);
  y -= broadcast(0.5f) * z;
  return x == x ? m + y + e * broadcast(0.693359375f) : x;
}
inline DoubleLanes log(DoubleLanes x) {
  for (int64_t i = 0; i < kWidth<double>; ++i) x[i] = __builtin_log(x[i]);
  return x;
}

/// 2^x = whole (1 + above_1), whole a power of two and |above_1| < .42, for -127 <= x < 128
/// (`whole` is 0 at -127). The coefficients interpolate (2^r - 1) / r at the Chebyshev points of
/// |r| <= 1/2.
struct PowerOfTwo {
  Lanes whole, above_1;

  explicit PowerOfTwo(Lanes x) {
    const Lanes shifted = x + broadcast(kRound);
    const Lanes r = x - (shifted - broadcast(kRound));
    Lanes p = broadcast(1.5453162945e-4f);
    p = p * r + broadcast(1.3390863365e-3f);
    p = p * r + broadcast(9.6180825573e-3f);
    p = p * r + broadcast(5.5503571142e-2f);
    p = p * r + broadcast(2.4022650761e-1f);
    p = p * r + broadcast(6.9314718803e-1f);
    above_1 = p * r;
    whole = (Lanes)(((IntLanes)shifted - (IntLanes)broadcast(kRound) + 127) << 23);
  }
};

/// 2^x for x <= 0 to one unit in the last place, exactly 1 at 0; 0 below -126.5, NaN for NaN.
inline Lanes exp2(Lanes x) {
  const PowerOfTwo y(max(broadcast(-127.0f), x));
  return (y.above_1 + broadcast(1.0f)) * y.whole;
}
inline DoubleLanes exp2(DoubleLanes x) {
  constexpr double kDoubleRound = 6755399441055744.0;  // 1.5 * 2^52
  constexpr double kCoefficients[] = {2.5729324177362304214e-11,
                                      4.4558179083360644930e-10,
                                      7.0548973041554992774e-9,
                                      1.0178057087733941105e-7,
                                      1.3215486808705562790e-6,
                                      1.5252733841556772589e-5,
                                      1.5403530393370733411e-4,
                                      1.3333558146406470697e-3,
                                      9.6181291076284794928e-3,
                                      5.5504108664821627039e-2,
                                      2.4022650695910071233e-1,
                                      6.9314718055994530925e-1,
                                      1.0};
  x = max(broadcast(-1023.0), x);
  const DoubleLanes shifted = x + broadcast(kDoubleRound);
  const DoubleLanes r = x - (shifted - broadcast(kDoubleRound));
  DoubleLanes p{};
  for (double coefficient : kCoefficients) p = p * r + broadcast(coefficient);
  return p * (DoubleLanes)(((LongLanes)shifted - (LongLanes)broadcast(kDoubleRound) + 1023) << 52);
}

/// Exponents whose powers of two, and 1 added to these, are floats; NaN for NaN.
inline Lanes within_floats(Lanes exponent) {
  return min(broadcast(126.0f), max(broadcast(-126.0f), exponent));
}

/// 1 / (1 + e^-x)
inline Lanes sigmoid(Lanes x) {
  const PowerOfTwo e(within_floats(x * broadcast(-1.44269504f)));
  return broadcast(1.0f) / (broadcast(1.0f) + (e.whole + e.whole * e.above_1));
}

/// m / (m + 2) for m = e^2x - 1, which keeps the relative accuracy of small numbers.
inline Lanes tanh(Lanes x) {
  const PowerOfTwo e(within_floats(x * broadcast(2.88539008f)));
  const Lanes m = e.whole * e.above_1 + (e.whole - broadcast(1.0f));
  return m / (m + broadcast(2.0f));
}

/// e^2x. Of such powers tanh(x + y) costs a product and a division, not an exponential; it is right
/// to 1e-7 where neither |x| nor |y| is above kMostExp2x, so that both powers are floats.
constexpr float kMostExp2x = 43.0f;
inline Lanes exp_2x(Lanes x) {
  const PowerOfTwo e(within_floats(x * broadcast(2.88539008f)));
  return e.whole + e.whole * e.above_1;
}
inline Lanes tanh_of_sum(Lanes exp_2x, Lanes exp_2y) {
  return broadcast(1.0f) - broadcast(2.0f) / (broadcast(1.0f) + exp_2x * exp_2y);
}

/// y' from y, of the sigmoid and of tanh.
inline Lanes sigmoid_slope(Lanes y) {
  return y * (broadcast(1.0f) - y);
}
inline Lanes tanh_slope(Lanes y) {
  return broadcast(1.0f) - y * y;
}

// ---- Transposes ----

/// Counts<4>::Indices is Indices<0, 1, 2, 3>.
template <int... Numbers>
struct Indices {};
template <int Count, int... Numbers>
struct Counts : Counts<Count - 1, Count - 1, Numbers...> {};
template <int... Numbers>
struct Counts<0, Numbers...> {
  typedef Indices<Numbers...> Type;
};

/// Swaps the upper right and lower left quarters of every 2 Half x 2 Half square of two rows.
template <int Half, class Vector, int... Lane>
inline void swap_quarters(Vector& upper, Vector& lower, Indices<Lane...>) {
  constexpr int kCount = sizeof...(Lane);
  const Vector a = upper, b = lower;
  upper = __builtin_shufflevector(a, b, (Lane & Half ? Lane - Half + kCount : Lane)...);
  lower = __builtin_shufflevector(a, b, (Lane & Half ? Lane + kCount : Lane + Half)...);
}

template <int Half, class T>
inline void transpose_stages(Values<T> (&rows)[kWidth<T>]) {
  constexpr int kCount = static_cast<int>(kWidth<T>);
  if constexpr (Half < kCount) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i)
      if (!(i & Half))
        swap_quarters<Half>(rows[i], rows[i + Half], typename Counts<kCount>::Type());
    transpose_stages<2 * Half, T>(rows);
  }
}

/// to[j][i] = factor from[i][j] for one square of kWidth x kWidth numbers.
template <class T>
inline void transpose_square(const T* from, int64_t from_row, T* to, int64_t to_row, T factor) {
  Values<T> rows[kWidth<T>];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kWidth<T>; ++i) rows[i] = load(from + i * from_row);
  transpose_stages<1, T>(rows);
#pragma GCC unroll 16
  for (int64_t i = 0; i < kWidth<T>; ++i) store(to + i * to_row, rows[i] * broadcast(factor));
}

/// The same for [rows, columns], both rounded up to whole vectors.
template <class T>
void transpose(const T* from, int64_t from_row, int64_t rows, int64_t columns, T* to,
               int64_t to_row, T factor) {
  for (int64_t i = 0; i < rows; i += kWidth<T>)
    for (int64_t j = 0; j < columns; j += kWidth<T>)
      transpose_square(from + i * from_row + j, from_row, to + j * to_row + i, to_row, factor);
}

}  // namespace
}  // namespace fovea::kernels
