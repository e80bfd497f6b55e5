// Sums of a matrix over its rows on a GPU: the gradient of a bias. Numbers may be float32 or
// bfloat16; sums are float32 and come in one order, hence with the same bits each time. Launched on
// `stream`, a cudaStream_t.
#pragma once

#include <cstdint>

#include "fovea/kernels/device/number_type.h"

namespace fovea::kernels::device {

/// How many slices the sums of columns are first made in.
int64_t column_slices(int64_t rows, int64_t columns);

struct ColumnSums {
  NumberType type = NumberType::Float32;
  int64_t rows = 0, columns = 0;
  const void* x = nullptr;  // [rows, columns]
  float* slices = nullptr;  // [column_slices(rows, columns), columns], overwritten
  float* sums = nullptr;    // [columns]
};

void column_sums(const ColumnSums& of, void* stream);

}  // namespace fovea::kernels::device
