// The columns of a table as vectors: column c has the inputs i with column_of_input[i] = c, and
//   e_c = b_c + sum_i x_i E_i
// For 0/1 inputs of categories E_i is a category's embedding; for the pieces of a number this is
// its piecewise-linear embedding (Gorishniy et al. 2022). Most inputs of a row are 0: on a CPU only
// the others are multiplied (kernels/sparse_rows), elsewhere one product with a block-diagonal
// matrix does it.
#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "fovea/models/table_shape.h"
#include "fovea/tensor/random.h"

namespace fovea {

class ColumnEmbedding : public torch::nn::Module {
 public:
  ColumnEmbedding(const FeatureShape& shape, int64_t width);
  void initialise(const Random& random);

  /// x [B, I] -> [B, C, d]
  at::Tensor forward(const at::Tensor& x) const;

  /// E with zeros where an input is not the column's: [I, C d].
  at::Tensor block_diagonal() const;

  at::Tensor weight;  // E [I, d]
  at::Tensor bias;    // b [C, d]

 private:
  at::Tensor forward_sparse(const at::Tensor& x) const;

  std::vector<int64_t> column_of_input_;
};

}  // namespace fovea
