// One panel of a matrix that pack_matrix() packed: the bias of its columns, then one row for each
// input.
#pragma once

#include "fovea/kernels/panels-inl.h"

namespace {

/// c [rows, kPanel] = b + x W^T for the columns of one panel of pack_matrix(): their bias b, then
/// one row of W^T for each input. Rows of c are c_row apart.
inline void multiply_panel(const float* panel, int64_t inputs, const float* x, int64_t x_row,
                           float* c, int64_t c_row, int64_t rows) {
  const Lanes left = load(panel), right = load(panel + kLanes);
  for (int64_t r = 0; r < rows; ++r) {
    store(c + r * c_row, left);
    store(c + r * c_row + kLanes, right);
  }
  multiply_column<float, Left::RowMajor, Into::Sum, 2>(x, x_row, panel + kPanel, kPanel, c, c_row,
                                                       rows, inputs);
}

}  // namespace
