// A row is done kWide columns at a
// time, in registers, then by single vectors, then what is left.
#include "fovea/kernels/sparse_rows/sparse_rows.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/simd.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

template <int64_t kVectors>
inline void times_row(const SparseRows& x, int64_t row, const float* w, int64_t columns, float* y) {
  Lanes sums[kVectors] = {};
  for (int64_t n = x.begin[row]; n < x.begin[row + 1]; ++n) {
    const float *from = w + x.index[n] * columns, value = x.value[n];
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) sums[v] += load(from + v * kLanes) * broadcast(value);
  }
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) store(y + v * kLanes, sums[v]);
}

inline void times_rest(const SparseRows& x, int64_t row, const float* w, int64_t columns,
                       FirstLanes rest, float* y) {
  Lanes sums{};
  for (int64_t n = x.begin[row]; n < x.begin[row + 1]; ++n)
    sums += load(w + x.index[n] * columns, rest) * broadcast(x.value[n]);
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
      store(to + v * kLanes, load(to + v * kLanes) + own[v] * broadcast(value));
  }
}

inline void gradient_rest(const SparseRows& x, int64_t row, const float* dy, int64_t columns,
                          FirstLanes rest, float* dw) {
  const Lanes own = load(dy, rest);
  for (int64_t n = x.begin[row]; n < x.begin[row + 1]; ++n) {
    float* to = dw + x.index[n] * columns;
    store(to, load(to, rest) + own * broadcast(x.value[n]), rest);
  }
}

constexpr int64_t kVectorsTogether = 4;
constexpr int64_t kWide = kVectorsTogether * kLanes;

void times(const SparseRows& x, int64_t slice, const float* w, int64_t columns, float* y) {
  const SliceRows rows(slice, kSparseRows, x.rows);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    float* to = y + row * columns;
    int64_t c = 0;
    for (; c + kWide <= columns; c += kWide)
      times_row<kVectorsTogether>(x, row, w + c, columns, to + c);
    for (; c + kLanes <= columns; c += kLanes) times_row<1>(x, row, w + c, columns, to + c);
    if (c < columns) times_rest(x, row, w + c, columns, FirstLanes{columns - c}, to + c);
  }
}

void gradient(const SparseRows& x, int64_t column_slice, const float* dy, int64_t columns,
              float* dw) {
  const SliceRows own(column_slice, kSparseColumns, columns);
  for (int64_t row = 0; row < x.rows; ++row) {
    const float* from = dy + row * columns;
    int64_t c = own.begin;
    for (; c + kWide <= own.end; c += kWide)
      gradient_row<kVectorsTogether>(x, row, from + c, columns, dw + c);
    for (; c + kLanes <= own.end; c += kLanes) gradient_row<1>(x, row, from + c, columns, dw + c);
    if (c < own.end) gradient_rest(x, row, from + c, columns, FirstLanes{own.end - c}, dw + c);
  }
}

}  // namespace

struct SparseRowsTable {
  decltype(&sparse_times) times;
  decltype(&sparse_gradient) gradient;
};
FOVEA_TABLE(SparseRowsTable, times, gradient)

#ifdef FOVEA_ENTRY_POINTS

void sparse_times(const SparseRows& x, int64_t slice, const float* w, int64_t columns, float* y) {
  table().times(x, slice, w, columns, y);
}

void sparse_gradient(const SparseRows& x, int64_t column_slice, const float* dy, int64_t columns,
                     float* dw) {
  table().gradient(x, column_slice, dy, columns, dw);
}

#endif

}  // namespace fovea::kernels
