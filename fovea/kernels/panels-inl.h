// Weights packed in panels that a product reads from the first number to the last: compiled once
// per instruction set.
#pragma once

#include "fovea/kernels/gemm-inl.h"

namespace fovea::kernels {
namespace {

/// Columns of a panel of packed weights: the width of a register tile.
constexpr int64_t kPanel = 2 * kLanes;

int64_t whole_panels(int64_t columns) {
  return (columns + kPanel - 1) / kPanel * kPanel;
}

/// [panel][row][kPanel] from value(row, column), 0 beyond the last column.
template <class Value>
void pack_panels(int64_t rows, int64_t columns, float* packed, Value value) {
  for (int64_t begin = 0; begin < columns; begin += kPanel)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = begin; column < begin + kPanel; ++column)
        *packed++ = column < columns ? value(row, column) : 0.0f;
}

/// Weights B [rows, columns] in panels.
struct Panels {
  const float* packed;
  int64_t rows, columns;

  int64_t size() const { return rows * whole_panels(columns); }
};

/// C [count, columns] (+)= A [count, rows of B] B; C's rows are whole_panels(columns) apart.
template <Into into>
void multiply_panels(const float* a, int64_t a_stride, const Panels& b, float* c, int64_t count) {
  const float* panel = b.packed;
  for (int64_t begin = 0; begin < b.columns; begin += kPanel, panel += b.rows * kPanel)
    multiply_column<float, Left::RowMajor, into, 2>(a, a_stride, panel, kPanel, c + begin,
                                                    whole_panels(b.columns), count, b.rows);
}

}  // namespace
}  // namespace fovea::kernels
