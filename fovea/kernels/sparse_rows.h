// Sparse rows times a dense matrix, Y = X W, and the gradient of W, dW = X^T dY, without a dense X.
// Row i of X holds value[n] in column index[n] for n = begin[i] … begin[i + 1] - 1. Y is cut into
// parts of rows, dW into parts of columns: any order, any number of threads, the same bits.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr int64_t kSparseRows = 128;    // rows of one part of Y
constexpr int64_t kSparseColumns = 64;  // columns of one part of dW

struct SparseRows {
  int64_t rows = 0;                // N
  const int64_t* begin = nullptr;  // [N + 1]
  const int64_t* index = nullptr;  // columns of X, rows of W
  const float* value = nullptr;

  int64_t parts() const { return (rows + kSparseRows - 1) / kSparseRows; }
  static int64_t column_parts(int64_t columns) {
    return (columns + kSparseColumns - 1) / kSparseColumns;
  }
};

/// w [F, C], y [N, C]
void sparse_times(const SparseRows& x, int64_t part, const float* w, int64_t columns, float* y);

/// Adds to dw [F, C]; dy [N, C].
void sparse_gradient(const SparseRows& x, int64_t column_part, const float* dy, int64_t columns,
                     float* dw);

}  // namespace fovea::kernels
