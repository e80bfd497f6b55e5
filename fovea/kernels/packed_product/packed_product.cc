#include "fovea/kernels/packed_product/packed_product.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/sizes-inl.h"
#ifdef FOVEA_BF16
#include "fovea/kernels/packed_product/rounded_panel-inl.h"
#else
#include "fovea/kernels/packed_product/panel-inl.h"
#endif

namespace fovea::kernels {
namespace {

inline Lanes finished(Lanes u, Finish finish) {
  if (finish == Finish::Relu) return u > Lanes{} ? u : u != u ? u : Lanes{};
  return finish == Finish::Tanh ? tanh(u) : u;
}

/// So many rows of x stay in a core's second cache while all panels of a slice pass them.
int64_t rows_at_once(int64_t inputs) {
  constexpr int64_t kCachedNumbers = 1 << 16;
  return max(kTileRows, kCachedNumbers / inputs / kTileRows * kTileRows);
}

/// The last columns, fewer than a panel has: through a tile of its own.
void multiply_narrow(const float* panel, int64_t columns, int64_t inputs, const PanelRows& x,
                     float* y, int64_t y_row) {
  float tile[kTileRows * kPanel];
  for (int64_t r = 0; r < x.rows; r += kTileRows) {
    const int64_t rows = min(kTileRows, x.rows - r);
    multiply_panel(panel, inputs, x.from(r, rows), tile, kPanel);
    for (int64_t i = 0; i < rows; ++i) copy_row(tile + i * kPanel, columns, y + (r + i) * y_row);
  }
}

void finish_rows(const PackedRows& at, float* y, int64_t columns) {
  for (int64_t r = 0; r < at.rows; ++r) {
    float* row = y + r * at.y_row;
    for_columns(columns, [&](int64_t c, int64_t, auto lanes) {
      store(row + c, finished(load(row + c, lanes), at.finish), lanes);
    });
  }
}

void pack(const PackedShape& shape, const float* weight, const float* bias, float* packed) {
  pack_weights(shape.inputs, shape.outputs, weight, bias, packed);
}

void multiply(const PackedShape& shape, int64_t slice, const float* packed, const PackedRows& at) {
  const SliceRows outputs(slice, kSliceOutputs, shape.outputs);
  const int64_t step = panel_size(shape.inputs), most = rows_at_once(shape.inputs);
  PanelStore ready;
  for (int64_t r = 0; r < at.rows; r += most) {
    PackedRows some = at;
    some.rows = min(most, at.rows - r);
    const PanelRows x = ready.take(at.x + r * at.x_row, at.x_row, some.rows, shape.inputs);
    for (int64_t c = outputs.begin; c < outputs.end; c += kPanel) {
      const float* panel = packed + c / kPanel * step;
      const int64_t columns = min(kPanel, outputs.end - c);
      float* y = at.y + r * at.y_row + c;
      if (columns == kPanel)
        multiply_panel(panel, shape.inputs, x, y, at.y_row);
      else
        multiply_narrow(panel, columns, shape.inputs, x, y, at.y_row);
      if (at.finish != Finish::None) finish_rows(some, y, columns);
    }
  }
}

}  // namespace

struct PackedProductTable {
  decltype(&pack_matrix) pack;
  decltype(&packed_product) multiply;
};
FOVEA_TABLE_WITH_BF16(PackedProductTable, pack, multiply)

#ifdef FOVEA_ENTRY_POINTS

int64_t PackedShape::packed() const {
  return round_up(outputs, kWidestPanel) * (inputs + 1);
}

int64_t PackedShape::slices() const {
  return ceil_div(outputs, kSliceOutputs);
}

void pack_matrix(const PackedShape& shape, const float* weight, const float* bias, float* packed) {
  table(shape.rounded).pack(shape, weight, bias, packed);
}

void packed_product(const PackedShape& shape, int64_t slice, const float* packed,
                    const PackedRows& at) {
  table(shape.rounded).multiply(shape, slice, packed, at);
}

#endif

}  // namespace fovea::kernels
