// Rows of a table of weights, one for each number: what an embedding is. The gradient of such a
// table has its size, and nearly all of it is 0. A thread that asks for rows only gets a list of
// the rows used and their gradients (a sparse tensor of LibTorch's) for each table that is a
// parameter.
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

/// table [V, E], numbers [...] -> [..., E]
at::Tensor embedding_lookup(const at::Tensor& table, const at::Tensor& numbers);

/// What is looked up on this thread while one lives has gradients of rows only. For those who add
/// them up with add_gradient().
class RowGradients {
 public:
  RowGradients();
  ~RowGradients();
  RowGradients(const RowGradients&) = delete;
  RowGradients& operator=(const RowGradients&) = delete;

 private:
  bool before_;
};

/// sum += share gradient, or sum = share gradient where `is_first`. The gradient, float32 on a CPU,
/// may be one of rows only; equal rows are added in their order.
void add_gradient(at::Tensor& sum, const at::Tensor& gradient, double share, bool is_first);

}  // namespace fovea
