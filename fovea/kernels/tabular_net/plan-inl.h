// What the instruction-set files of tabular_net see: the shape without standard containers, and one
// chunk of rows.
#pragma once

#include "fovea/kernels/sizes-inl.h"
#include "fovea/kernels/tabular_net/tabular_net.h"

namespace fovea::kernels {

struct TabularPlan {
  int64_t inputs, columns, layers, outputs;
  const int64_t* column_of_input;
  const int64_t* hidden;
  TabularLoss loss;
  bool input_is_column;  // column_of_input is 0, 1, 2, … C-1
};

struct TabularChunk {
  const float* inputs;
  const float* targets;
  const int64_t* classes;
  const int64_t* rows;
  int64_t count;
  int64_t end;  // so many of `rows` can be read: those after `count` come next
  float scale;  // weight of each row's loss in the gradient: 1 / rows of the whole batch
};

/// Rows processed at once: the buffers of a small net stay in the L1 and L2 caches.
constexpr int64_t kTabularChunk = 256;

/// Rows padded to whole vectors of any instruction set. Static, because files of several
/// instruction sets include it.
static constexpr int64_t padded_rows(int64_t count) {
  return round_up(count, kWidestVector);
}

}  // namespace fovea::kernels
