// What is known of nodes: a dense matrix [N, F], or sparse rows, of which node i has the numbers
// begin[i] … begin[i + 1] - 1 of (index, value). Products with weights never make sparse rows
// dense; on a CPU in float32 they go through kernels/sparse_rows.
#pragma once

#include "fovea/tensor/example.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct NodeFeatures {
  at::Tensor dense;                // [N, F], or undefined
  at::Tensor begin, index, value;  // int64 [N + 1], int64 [Z], [Z]

  /// "features", or "feature_begin", "feature_index" and "feature_value" of a batch.
  static NodeFeatures of(const Batch& batch);

  /// X W: [N, C]. weight [F, C]
  at::Tensor times(const at::Tensor& weight) const;
  /// Those of the nodes that `own` [T] names; undefined: of the first `count`.
  NodeFeatures rows(int64_t count, const at::Tensor& own = {}) const;
  NodeFeatures dropped(double rate, const Random& random) const;
};

/// Dropout for tensors whose rows are short: what is dropped is decided by an element's place among
/// all of them, 64 to a row, so that none of the random numbers goes to waste.
at::Tensor dropout_of_elements(const at::Tensor& x, double rate, const Random& random);

}  // namespace fovea
