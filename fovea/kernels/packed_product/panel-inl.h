// One panel of a matrix that pack_matrix() packed: the bias of its columns, then one row for each
// input. rounded_panel-inl.h has the same for bfloat16.
#pragma once

#include "fovea/kernels/panels-inl.h"

namespace fovea::kernels {
namespace {

/// Rows of x as a panel multiplies them.
struct PanelRows {
  const float* x;
  int64_t row;  // numbers between two of them
  int64_t rows;

  PanelRows from(int64_t first, int64_t count) const { return {x + first * row, row, count}; }
};

/// Where rows are made ready: here they are as they come.
struct PanelStore {
  PanelRows take(const float* x, int64_t x_row, int64_t rows, int64_t) { return {x, x_row, rows}; }
};

inline int64_t panel_size(int64_t inputs) {
  return (inputs + 1) * kPanel;
}

inline void pack_weights(int64_t inputs, int64_t outputs, const float* weight, const float* bias,
                         float* packed) {
  pack_panels(inputs + 1, outputs, packed, [&](int64_t row, int64_t column) {
    if (row == 0) return bias ? bias[column] : 0.0f;
    return weight[column * inputs + row - 1];
  });
}

/// c [rows, kPanel] = b + x W^T for the columns of one panel. Rows of c are c_row apart.
inline void multiply_panel(const float* panel, int64_t inputs, const PanelRows& x, float* c,
                           int64_t c_row) {
  const Lanes left = load(panel), right = load(panel + kLanes);
  for (int64_t r = 0; r < x.rows; ++r) {
    store(c + r * c_row, left);
    store(c + r * c_row + kLanes, right);
  }
  multiply_column<float, Left::RowMajor, Into::Sum, 2>(x.x, x.row, panel + kPanel, kPanel, c, c_row,
                                                       x.rows, inputs);
}

}  // namespace
}  // namespace fovea::kernels
