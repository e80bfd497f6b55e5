// Body of the sparse products, compiled once per instruction set. A row is done kWide columns at a
// time, in registers, then by single vectors, then what is left.
#include "fovea/kernels/columns-inl.h"
#include "fovea/kernels/sparse_rows.h"

namespace {

using fovea::kernels::kSparseColumns;
using fovea::kernels::kSparseRows;
using fovea::kernels::SparseRows;

template <int64_t kVectors>
inline void times_row(const SparseRows& x, int64_t row, const float* w, int64_t columns, float* y) {
  Lanes sums[kVectors] = {};
  for (int64_t n = x.begin[row]; n < x.begin[row + 1]; ++n) {
    const float *from = w + x.index[n] * columns, value = x.value[n];
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) sums[v] += load(from + v * kLanes) * all(value);
  }
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) store(y + v * kLanes, sums[v]);
}

inline void times_rest(const SparseRows& x, int64_t row, const float* w, int64_t columns,
                       int64_t rest, float* y) {
  Lanes sums{};
  for (int64_t n = x.begin[row]; n < x.begin[row + 1]; ++n)
    sums += load(w + x.index[n] * columns, rest) * all(x.value[n]);
  store(y, sums, rest);
}

template <int64_t kVectors>
inline void gradient_row(const SparseRows& x, int64_t row, const float* dy, int64_t columns,
                         float* dw) {
  Lanes own[kVectors];
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) own[v] = load(dy + v * kLanes);
  for (int64_t n = x.begin[row]; n < x.begin[row + 1]; ++n) {
    float *to = dw + x.index[n] * columns, value = x.value[n];
    if (value == 0) continue;  // dropped
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v)
      store(to + v * kLanes, load(to + v * kLanes) + own[v] * all(value));
  }
}

inline void gradient_rest(const SparseRows& x, int64_t row, const float* dy, int64_t columns,
                          int64_t rest, float* dw) {
  const Lanes own = load(dy, rest);
  for (int64_t n = x.begin[row]; n < x.begin[row + 1]; ++n) {
    float* to = dw + x.index[n] * columns;
    store(to, load(to, rest) + own * all(x.value[n]), rest);
  }
}

constexpr int64_t kVectorsTogether = 4;
constexpr int64_t kWide = kVectorsTogether * kLanes;

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void sparse_times(const SparseRows& x, int64_t part, const float* w, int64_t columns, float* y) {
  const int64_t first = part * kSparseRows,
                last = first + kSparseRows < x.rows ? first + kSparseRows : x.rows;
  for (int64_t row = first; row < last; ++row) {
    float* to = y + row * columns;
    int64_t c = 0;
    for (; c + kWide <= columns; c += kWide)
      times_row<kVectorsTogether>(x, row, w + c, columns, to + c);
    for (; c + kLanes <= columns; c += kLanes) times_row<1>(x, row, w + c, columns, to + c);
    if (c < columns) times_rest(x, row, w + c, columns, columns - c, to + c);
  }
}

void sparse_gradient(const SparseRows& x, int64_t column_part, const float* dy, int64_t columns,
                     float* dw) {
  const int64_t first = column_part * kSparseColumns,
                last = first + kSparseColumns < columns ? first + kSparseColumns : columns;
  for (int64_t row = 0; row < x.rows; ++row) {
    const float* from = dy + row * columns;
    int64_t c = first;
    for (; c + kWide <= last; c += kWide)
      gradient_row<kVectorsTogether>(x, row, from + c, columns, dw + c);
    for (; c + kLanes <= last; c += kLanes) gradient_row<1>(x, row, from + c, columns, dw + c);
    if (c < last) gradient_rest(x, row, from + c, columns, last - c, dw + c);
  }
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
