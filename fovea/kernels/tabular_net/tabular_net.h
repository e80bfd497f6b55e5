// The whole forward and backward pass of a network on table rows, without a tensor in sight:
//   a = softmax(W x + b)            one weight per column            (optional)
//   z_i = a[column of input i] x_i
//   h = relu(W_l h + b_l)           any number of hidden layers
//   o = W_o h + b_o                 then binary cross-entropy, cross-entropy or squared error
// Parameters lie one after the other in one array, in the order above, each weight [out, in]
// row-major followed by its bias: the order of the readable model's named_parameters(). Rows are
// processed side by side, one per vector lane.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/kernels/optimiser/optimiser.h"

namespace fovea::kernels {

enum class TabularLoss { BinaryCrossEntropy, CrossEntropy, SquaredError };

struct TabularShape {
  int64_t inputs = 0;                    // I
  int64_t columns = 0;                   // C, or 0 for a network without attention
  std::vector<int64_t> column_of_input;  // [I], each in 0 … C-1; empty without attention
  std::vector<int64_t> hidden;           // widths of the hidden layers
  int64_t outputs = 1;                   // O: 1 except for CrossEntropy
  TabularLoss loss = TabularLoss::BinaryCrossEntropy;

  int64_t parameters() const;  // length of the parameter array
  int64_t workspace(
      int64_t rows) const;  // floats of scratch space that calls with so many rows need
};

/// Rows picked from resident columns: row i of the batch is rows[i] of `inputs` and of the target.
struct TabularRows {
  const float* inputs;  // [N, I]
  const float*
      targets;  // [N]: 0 or 1, or a number; for CrossEntropy the class as `classes` instead
  const int64_t* classes;  // [N]
  const int64_t* rows;     // [count]
  int64_t count;
};

/// Sum of the rows' losses. Overwrites `gradient` with that of the MEAN loss. `scratch` holds
/// shape.workspace(count) floats.
double tabular_gradient(const TabularShape& shape, const float* parameters,
                        const TabularRows& batch, float* gradient, float* scratch);

/// One optimiser step for each `batch_size` rows, and for the rest of them. Sum of the rows'
/// losses, each while the weights were moving. `scratch` holds shape.workspace(batch_size) floats.
double tabular_train(const TabularShape& shape, const TabularRows& rows, int64_t batch_size,
                     const OptimiserSteps& steps, float* scratch);

/// Outputs o [count, O] and, unless null, attention a [count, C].
void tabular_forward(const TabularShape& shape, const float* parameters, const TabularRows& batch,
                     float* outputs, float* attention, float* scratch);

}  // namespace fovea::kernels
