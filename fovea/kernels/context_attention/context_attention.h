// Context attention, one row after the other: y = w . (x * A[c]) + b, squared error. Parameters in
// one array: A [contexts, positions], w [positions], b. Most rows' gradients touch one row of A,
// but an optimiser step moves all parameters: at a batch of one that is nearly all the time.
#pragma once

#include <cstdint>

#include "fovea/kernels/optimiser/optimiser.h"

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

/// One optimiser step for each `batch_size` rows, and for the rest of them. Sum of the rows'
/// squared errors, each while the weights were moving. steps.gradient is left as the last batch's.
double context_train(const ContextShape& shape, const ContextRows& rows, int64_t batch_size,
                     const OptimiserSteps& steps);

}  // namespace fovea::kernels
