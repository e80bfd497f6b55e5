// A picture as a sequence of patches behind a class token, Dosovitskiy et al. 2021:
//   z_0 = [c; E x_1; …; E x_N] + positions                                               [1 + N, D]
// x_i is the i-th square of pixels, row by row; c and the positions are learned. With `blocks` the
// squares are those of a feature map (the paper's hybrid): so many convolutions with norm, ReLU and
// pooling (image_encoder.h, small) halve the sides first, which small data learn from more easily
// (Xiao et al. 2021). A picture whose sides are no multiple of a patch is stretched to the nearest.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>

#include "fovea/nn/vision/image_encoder.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct PatchEmbeddingOptions {
  int64_t channels = 3;
  int64_t rows = 14, columns = 14;  // patches
  int64_t patch = 16;               // pixels of a side, a multiple of 2^blocks
  int64_t blocks = 0;
  int64_t width = 64;  // D
};

class PatchEmbedding : public torch::nn::Module {
 public:
  explicit PatchEmbedding(const PatchEmbeddingOptions& options);
  void initialise(const Random& random);
  /// [B, C, height, width] of any size -> [B, 1 + rows columns, D]
  at::Tensor forward(at::Tensor x) const;
  const PatchEmbeddingOptions& options() const { return options_; }

  at::Tensor weight, bias;  // E: [D, C', P', P'] and [D]
  at::Tensor class_token;   // [1, 1, D]
  at::Tensor positions;     // [1, 1 + rows columns, D]

 private:
  PatchEmbeddingOptions options_;
  std::shared_ptr<ImageEncoder> stem_;  // with blocks
};

/// Learned positions for another grid, by bicubic interpolation; that of the class token stays.
/// [1, 1 + rows columns, D] -> [1, 1 + new_rows new_columns, D]
at::Tensor resized_positions(const at::Tensor& positions, int64_t rows, int64_t columns,
                             int64_t new_rows, int64_t new_columns);

}  // namespace fovea
