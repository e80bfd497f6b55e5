// Vectors of float and of double under one set of names, for kernels that are templates over the
// number type. Adds the double half to lanes-inl.h and the square transpose to both.
#pragma once

#include "fovea/kernels/lanes-inl.h"

typedef double DoubleLanes __attribute__((vector_size(4 * FOVEA_LANES)));
typedef int64_t LongLanes __attribute__((vector_size(4 * FOVEA_LANES)));

namespace {

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef Lanes Values;
  typedef IntLanes Integers;
  typedef int32_t Integer;
};
template <>
struct VectorOf<double> {
  typedef DoubleLanes Values;
  typedef LongLanes Integers;
  typedef int64_t Integer;
};

template <class T>
using Values = typename VectorOf<T>::Values;
template <class T>
using Integers = typename VectorOf<T>::Integers;
template <class T>
using Integer = typename VectorOf<T>::Integer;

/// Numbers per vector.
template <class T>
constexpr int64_t kWidth = 4 * FOVEA_LANES / static_cast<int64_t>(sizeof(T));

inline DoubleLanes all(double value) {
  return value - DoubleLanes{};
}
inline DoubleLanes load(const double* from) {
  DoubleLanes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline void store(double* to, DoubleLanes lanes) {
  __builtin_memcpy(to, &lanes, sizeof lanes);
}
inline DoubleLanes larger(DoubleLanes a, DoubleLanes b) {
  return a > b ? a : b;
}

/// 0, 1, 2, … over the lanes.
template <class T>
inline Integers<T> lane_numbers() {
  Integers<T> numbers{};
  for (int64_t i = 0; i < kWidth<T>; ++i) numbers[i] = static_cast<Integer<T>>(i);
  return numbers;
}

/// Whether some lane of a comparison holds.
template <class Mask>
inline bool any(Mask mask) {
  uint64_t words[sizeof mask / 8], together = 0;
  __builtin_memcpy(words, &mask, sizeof mask);
  for (uint64_t word : words) together |= word;
  return together != 0;
}

/// 2^x = whole (1 + above_1), whole a power of two and |above_1| < .42, for -127 <= x < 128
/// (`whole` is 0 at -127). The coefficients interpolate (2^r - 1) / r at the Chebyshev points of
/// |r| <= 1/2.
struct PowerOfTwo {
  Lanes whole, above_1;

  explicit PowerOfTwo(Lanes x) {
    const Lanes shifted = x + all(kRound);
    const Lanes r = x - (shifted - all(kRound));
    Lanes p = all(1.5453162945e-4f);
    p = p * r + all(1.3390863365e-3f);
    p = p * r + all(9.6180825573e-3f);
    p = p * r + all(5.5503571142e-2f);
    p = p * r + all(2.4022650761e-1f);
    p = p * r + all(6.9314718803e-1f);
    above_1 = p * r;
    whole = (Lanes)(((IntLanes)shifted - (IntLanes)all(kRound) + 127) << 23);
  }
};

/// 2^x for x <= 0 to one unit in the last place, exactly 1 at 0; 0 below -126.5, NaN for NaN.
inline Lanes power_of_two(Lanes x) {
  const PowerOfTwo y(larger(all(-127.0f), x));
  return (y.above_1 + all(1.0f)) * y.whole;
}

inline DoubleLanes power_of_two(DoubleLanes x) {
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
  x = larger(all(-1023.0), x);
  const DoubleLanes shifted = x + all(kDoubleRound);
  const DoubleLanes r = x - (shifted - all(kDoubleRound));
  DoubleLanes p{};
  for (double coefficient : kCoefficients) p = p * r + all(coefficient);
  return p * (DoubleLanes)(((LongLanes)shifted - (LongLanes)all(kDoubleRound) + 1023) << 52);
}

/// Counts<4>::Pack is Pack<0, 1, 2, 3>.
template <int... Numbers>
struct Pack {};
template <int Count, int... Numbers>
struct Counts : Counts<Count - 1, Count - 1, Numbers...> {};
template <int... Numbers>
struct Counts<0, Numbers...> {
  typedef ::Pack<Numbers...> Pack;
};

/// Swaps the upper right and lower left quarters of every 2 Half x 2 Half square of two rows.
template <int Half, class Vector, int... Lane>
inline void swap_quarters(Vector& upper, Vector& lower, Pack<Lane...>) {
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
        swap_quarters<Half>(rows[i], rows[i + Half], typename Counts<kCount>::Pack());
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
  for (int64_t i = 0; i < kWidth<T>; ++i) store(to + i * to_row, rows[i] * all(factor));
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
