// Sparse rows times a dense matrix, Y = X W, and the gradient of W, dW = X^T dY, without a dense X.
// Row i of X holds value[n] in column index[n] for n = begin[i] … begin[i + 1] - 1. Y is cut into
// slices of rows, dW into slices of columns: any order, any number of threads, the same bits.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr int64_t kSparseRows = 128;    // rows of one slice of Y
constexpr int64_t kSparseColumns = 64;  // columns of one slice of dW

struct SparseRows {
  int64_t rows = 0;                // N
  const int64_t* begin = nullptr;  // [N + 1]
  const int64_t* index = nullptr;  // columns of X, rows of W
  const float* value = nullptr;

  int64_t slices() const { return (rows + kSparseRows - 1) / kSparseRows; }
  static int64_t column_slices(int64_t columns) {
    return (columns + kSparseColumns - 1) / kSparseColumns;
  }
};

/// w [F, C], y [N, C]
void sparse_times(const SparseRows& x, int64_t slice, const float* w, int64_t columns, float* y);

/// Adds to dw [F, C]; dy [N, C].
void sparse_gradient(const SparseRows& x, int64_t column_slice, const float* dy, int64_t columns,
                     float* dw);

}  // namespace fovea::kernels
