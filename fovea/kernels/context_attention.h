// Context attention on one row: y = w . (x * A[c]) + b, squared error. Parameters in one array: A
// [contexts, positions], w [positions], b. Small enough that one plain loop is the whole kernel.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct ContextShape {
  int64_t contexts = 0, positions = 0;
  int64_t parameters() const { return (contexts + 1) * positions + 1; }
};

/// Rows picked from resident columns.
struct ContextRows {
  const float* inputs;      // [N, positions]
  const int64_t* contexts;  // [N]
  const float* targets;     // [N]
  const int64_t* rows;      // [count]
  int64_t count;
};

/// Sum of the rows' squared errors. Overwrites `gradient` with that of the MEAN loss.
double context_gradient(const ContextShape& shape, const float* parameters,
                        const ContextRows& batch, float* gradient);

}  // namespace fovea::kernels
