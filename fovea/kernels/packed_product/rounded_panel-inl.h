// One panel of a matrix that pack_matrix() packed and rounded to bfloat16: the bias of its columns
// in float32, then one row for each two inputs, in which both numbers of a column lie side by side:
// AVX-512 BF16 multiplies such pairs and adds both products to a float32.
#pragma once

#include "fovea/kernels/packed_product/packed_product.h"
#include "fovea/kernels/panels-inl.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

inline int64_t pairs_of(int64_t inputs) {
  return (inputs + 1) / 2;
}

/// The nearest bfloat16, of two equally near the even one.
inline uint16_t rounded(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (x != x) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rows of x as a panel multiplies them.
struct PanelRows {
  const uint16_t* x;
  int64_t row;  // numbers between two of them, even
  int64_t rows;

  PanelRows from(int64_t first, int64_t count) const { return {x + first * row, row, count}; }
};

/// Where rows are made ready.
class PanelStore {
 public:
  /// At most kTileRows rows, or so many that they have 2^16 numbers.
  PanelRows take(const float* x, int64_t x_row, int64_t rows, int64_t inputs) {
    const int64_t row = 2 * pairs_of(inputs);
    for (int64_t r = 0; r < rows; ++r) round_row(x + r * x_row, inputs, numbers_ + r * row);
    return {numbers_, row, rows};
  }

 private:
  static void round_row(const float* x, int64_t inputs, uint16_t* to) {
    int64_t i = 0;
    for (; i + kLanes <= inputs; i += kLanes) {
      const __m256bh sixteen = _mm512_cvtneps_pbh(_mm512_loadu_ps(x + i));
      __builtin_memcpy(to + i, &sixteen, sizeof sixteen);
    }
    for (; i < inputs; ++i) to[i] = rounded(x[i]);
    if (inputs % 2) to[inputs] = 0;
  }

  // a row of one number takes two
  alignas(64) uint16_t numbers_[2 << 16];
  static_assert(kTileRows * (kMostRoundedInputs + 1) <= 2 << 16);
};

inline int64_t panel_size(int64_t inputs) {
  return (pairs_of(inputs) + 1) * kPanel;
}

inline void pack_weights(int64_t inputs, int64_t outputs, const float* weight, const float* bias,
                         float* packed) {
  pack_panels(pairs_of(inputs) + 1, outputs, packed, [&](int64_t row, int64_t column) {
    if (row == 0) return bias ? bias[column] : 0.0f;
    const int64_t first = 2 * (row - 1);
    const float* from = weight + column * inputs + first;
    const uint16_t pair[2] = {rounded(from[0]), first + 1 < inputs ? rounded(from[1]) : uint16_t{}};
    float both;
    __builtin_memcpy(&both, pair, sizeof both);
    return both;
  });
}

template <int64_t Rows>
void rounded_tile(const float* panel, int64_t pairs, const PanelRows& x, float* c, int64_t c_row) {
  __m512 sums[Rows][2];
  for (int64_t r = 0; r < Rows; ++r)
    for (int64_t v = 0; v < 2; ++v) sums[r][v] = _mm512_loadu_ps(panel + v * kLanes);
  for (int64_t p = 0; p < pairs; ++p) {
    panel += kPanel;
    const __m512bh left = (__m512bh)_mm512_loadu_ps(panel),
                   right = (__m512bh)_mm512_loadu_ps(panel + kLanes);
#pragma GCC unroll 8
    for (int64_t r = 0; r < Rows; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, x.x + r * x.row + 2 * p, sizeof pair);
      const __m512bh number = (__m512bh)_mm512_set1_epi32(pair);
      sums[r][0] = _mm512_dpbf16_ps(sums[r][0], number, left);
      sums[r][1] = _mm512_dpbf16_ps(sums[r][1], number, right);
    }
  }
  for (int64_t r = 0; r < Rows; ++r)
    for (int64_t v = 0; v < 2; ++v) _mm512_storeu_ps(c + r * c_row + v * kLanes, sums[r][v]);
}

/// The tile of 1 … Rows rows.
template <int64_t Rows>
void rounded_rows(const float* panel, int64_t pairs, const PanelRows& x, float* c, int64_t c_row) {
  if constexpr (Rows > 1) {
    if (x.rows < Rows) return rounded_rows<Rows - 1>(panel, pairs, x, c, c_row);
  }
  rounded_tile<Rows>(panel, pairs, x, c, c_row);
}

/// c [rows, kPanel] = b + x W^T for the columns of one panel. Rows of c are c_row apart.
inline void multiply_panel(const float* panel, int64_t inputs, const PanelRows& x, float* c,
                           int64_t c_row) {
  for (int64_t r = 0; r < x.rows; r += kTileRows)
    rounded_rows<kTileRows>(panel, pairs_of(inputs), x.from(r, min(kTileRows, x.rows - r)),
                            c + r * c_row, c_row);
}

}  // namespace
}  // namespace fovea::kernels
