// Body of products with packed matrices, compiled once per instruction set.
#pragma once

#include "fovea/kernels/columns-inl.h"
#ifdef FOVEA_ROUNDED
#include "fovea/kernels/rounded_panel-inl.h"
#else
#include "fovea/kernels/packed_panel-inl.h"
#endif
#include "fovea/kernels/packed_product.h"
#include "fovea/kernels/sigmoids-inl.h"

namespace {

using fovea::kernels::Finish;
using fovea::kernels::kPartOutputs;
using fovea::kernels::PackedRows;
using fovea::kernels::PackedShape;

inline Lanes finished(Lanes u, Finish finish) {
  if (finish == Finish::Relu) return u > Lanes{} ? u : u != u ? u : Lanes{};
  return finish == Finish::Tanh ? hyperbolic_tangent(u) : u;
}

/// So many rows of x stay in a core's second cache while all panels of a part pass them.
int64_t rows_at_once(int64_t inputs) {
  constexpr int64_t kCachedNumbers = 1 << 16;
  const int64_t rows = kCachedNumbers / inputs / kTileRows * kTileRows;
  return rows > kTileRows ? rows : kTileRows;
}

/// The last columns, fewer than a panel has: through a tile of its own.
void multiply_narrow(const float* panel, int64_t columns, int64_t inputs, const PanelRows& x,
                     float* y, int64_t y_row) {
  float tile[kTileRows * kPanel];
  for (int64_t r = 0; r < x.rows; r += kTileRows) {
    const int64_t rows = x.rows - r < kTileRows ? x.rows - r : kTileRows;
    multiply_panel(panel, inputs, x.from(r, rows), tile, kPanel);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < columns; c += kLanes)
        store(y + (r + i) * y_row + c, load(tile + i * kPanel + c),
              columns - c < kLanes ? columns - c : kLanes);
  }
}

void finish_rows(const PackedRows& at, float* y, int64_t columns) {
  for (int64_t r = 0; r < at.rows; ++r) {
    float* row = y + r * at.y_row;
    for_columns(
        columns, [&](int64_t c, int64_t) { store(row + c, finished(load(row + c), at.finish)); },
        [&](int64_t c, int64_t count) {
          store(row + c, finished(load(row + c, count), at.finish), count);
        });
  }
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void pack_matrix(const PackedShape& shape, const float* weight, const float* bias, float* packed) {
  pack_weights(shape.inputs, shape.outputs, weight, bias, packed);
}

void packed_product(const PackedShape& shape, int64_t part, const float* packed,
                    const PackedRows& at) {
  const int64_t begin = part * kPartOutputs, step = panel_size(shape.inputs);
  const int64_t end = begin + kPartOutputs < shape.outputs ? begin + kPartOutputs : shape.outputs;
  const int64_t most = rows_at_once(shape.inputs);
  PanelStore ready;
  for (int64_t r = 0; r < at.rows; r += most) {
    PackedRows some = at;
    some.rows = at.rows - r < most ? at.rows - r : most;
    const PanelRows x = ready.take(at.x + r * at.x_row, at.x_row, some.rows, shape.inputs);
    for (int64_t c = begin; c < end; c += kPanel) {
      const float* panel = packed + c / kPanel * step;
      const int64_t columns = end - c < kPanel ? end - c : kPanel;
      float* y = at.y + r * at.y_row + c;
      if (columns == kPanel)
        multiply_panel(panel, shape.inputs, x, y, at.y_row);
      else
        multiply_narrow(panel, columns, shape.inputs, x, y, at.y_row);
      if (at.finish != Finish::None) finish_rows(some, y, columns);
    }
  }
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
