// Small matrix products from packed operands that lie in the caches, compiled once per instruction
// set:
//   C[r][c] (+)= sum_s A(r, s) B[s][c]
// C and B are row-major and C's columns fill whole vectors. A tile of C stays in registers while
// the loop runs over s: every step loads the tile's vectors of one row of B and, for each row, one
// number of A for all lanes.
#pragma once

#include "fovea/kernels/simd.h"

namespace fovea::kernels {
namespace {

/// Where A(r, s) lies: at a[r * stride + s], or transposed at a[s * stride + r].
enum class Left { RowMajor, Transposed };

/// Whether C is overwritten or added to.
enum class Into { Fresh, Sum };

/// Rows of a register tile, two vectors wide. Enough sums to hide the latency of a multiply-add
/// (8 x 2 and 4 x 2 reach the peak; larger tiles measured no better), and few enough for 32 or 16
/// registers.
constexpr int64_t kTileRows = FOVEA_LANES == 16 ? 8 : 4;

template <class T, Left left, Into into, int64_t Rows, int64_t Vectors>
void register_tile(const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* c,
                   int64_t c_stride, int64_t steps) {
  constexpr int64_t W = kWidth<T>;
  Values<T> sums[Rows][Vectors];
  for (int64_t r = 0; r < Rows; ++r)
    for (int64_t v = 0; v < Vectors; ++v)
      sums[r][v] = into == Into::Sum ? load(c + r * c_stride + v * W) : Values<T>{};
  for (int64_t s = 0; s < steps; ++s) {
    Values<T> right[Vectors];
    for (int64_t v = 0; v < Vectors; ++v) right[v] = load(b + s * b_stride + v * W);
    for (int64_t r = 0; r < Rows; ++r) {
      const Values<T> number =
          broadcast(left == Left::RowMajor ? a[r * a_stride + s] : a[s * a_stride + r]);
      for (int64_t v = 0; v < Vectors; ++v) sums[r][v] += number * right[v];
    }
  }
  for (int64_t r = 0; r < Rows; ++r)
    for (int64_t v = 0; v < Vectors; ++v) store(c + r * c_stride + v * W, sums[r][v]);
}

/// The register tile of 1 … Rows rows.
template <class T, Left left, Into into, int64_t Rows, int64_t Vectors>
inline void register_rows(int64_t rows, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                          T* c, int64_t c_stride, int64_t steps) {
  if constexpr (Rows > 1) {
    if (rows < Rows)
      return register_rows<T, left, into, Rows - 1, Vectors>(rows, a, a_stride, b, b_stride, c,
                                                             c_stride, steps);
  }
  register_tile<T, left, into, Rows, Vectors>(a, a_stride, b, b_stride, c, c_stride, steps);
}

/// One column of tiles. The last tiles share what is left evenly: 9 rows are 5 and 4, not 8 and 1.
template <class T, Left left, Into into, int64_t Vectors>
void multiply_column(const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* c,
                     int64_t c_stride, int64_t rows, int64_t steps) {
  int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  for (int64_t r = 0; r < rows; --tiles) {
    const int64_t now = tiles > 2 ? kTileRows : (rows - r + tiles - 1) / tiles;
    register_rows<T, left, into, kTileRows, Vectors>(
        now, left == Left::RowMajor ? a + r * a_stride : a + r, a_stride, b, b_stride,
        c + r * c_stride, c_stride, steps);
    r += now;
  }
}

/// C [rows, vectors * kWidth] (+)= A [rows, steps] B [steps, vectors * kWidth].
template <class T, Left left, Into into>
void multiply(const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* c, int64_t c_stride,
              int64_t rows, int64_t vectors, int64_t steps) {
  constexpr int64_t W = kWidth<T>;
  int64_t v = 0;
  for (; v + 2 <= vectors; v += 2)
    multiply_column<T, left, into, 2>(a, a_stride, b + v * W, b_stride, c + v * W, c_stride, rows,
                                      steps);
  if (v < vectors)
    multiply_column<T, left, into, 1>(a, a_stride, b + v * W, b_stride, c + v * W, c_stride, rows,
                                      steps);
}

}  // namespace
}  // namespace fovea::kernels
