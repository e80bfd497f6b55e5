#include "fovea/kernels/dropout/dropout.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/dropout/dropout-inl.h"

namespace fovea::kernels {
namespace {

void drop_rows(const Dropout& dropout, const float* x, int64_t first_row, int64_t rows,
               int64_t columns, float* y) {
  for (int64_t row = first_row; row < first_row + rows; ++row, x += columns, y += columns)
    for_dropout_columns(dropout, row, columns, [&](int64_t c, int64_t, auto lanes, auto dropped) {
      store(y + c, dropped(load(x + c, lanes)), lanes);
    });
}

}  // namespace

struct DropoutTable {
  decltype(&dropout) drop_rows;
};
FOVEA_TABLE(DropoutTable, drop_rows)

}  // namespace fovea::kernels

#ifdef FOVEA_ENTRY_POINTS
#include <algorithm>
#include <cmath>

namespace fovea::kernels {

Dropout::Dropout(double rate, uint64_t stream)
    : key(stream),
      threshold(static_cast<uint32_t>(std::min(std::round(rate * 0x1p32), 0x1p32 - 1))),
      scale(static_cast<float>(1 / (1 - rate))) {}

void dropout(const Dropout& dropout, const float* x, int64_t first_row, int64_t rows,
             int64_t columns, float* y) {
  table().drop_rows(dropout, x, first_row, rows, columns, y);
}

}  // namespace fovea::kernels
#endif
