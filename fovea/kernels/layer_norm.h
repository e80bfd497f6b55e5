// Layer normalisation (Ba et al. 2016), with the addition in front of it that a Transformer has:
//   z = x, or residual + dropout(x)
//   y = (z - mean(z)) / sqrt(var(z) + epsilon) * gamma + beta            over the columns of a row
// Forward keeps mean and 1/sigma of each row besides z. Backward, with n = (z - mean) / sigma and
// h = dy gamma:
//   dz = (h - mean(h) - n mean(h n)) / sigma + what else arrives at z;  dx = dropout's share of dz
//   dgamma = sum over rows of dy n,  dbeta = sum over rows of dy
// Work is cut into parts of kLayerNormRows rows; the parts' sums are added in their order.
#pragma once

#include <cstdint>

#include "fovea/kernels/dropout.h"

namespace fovea::kernels {

constexpr int64_t kLayerNormRows = 32;  // rows of one part

struct LayerNormShape {
  int64_t rows = 0, columns = 0;
  float epsilon = 1e-5f;
  Dropout dropout;  // of x, where there is a residual

  int64_t parts() const { return (rows + kLayerNormRows - 1) / kLayerNormRows; }
};

struct LayerNormForward {
  const float* x;               // [rows, columns]
  const float* residual;        // [rows, columns], or null: z = x
  const float *gamma, *beta;    // [columns]
  float* z;                     // [rows, columns], with a residual; may be x
  float* y;                     // [rows, columns]
  float *mean, *inverse_sigma;  // [rows]
};

void layer_norm_forward(const LayerNormShape& shape, int64_t part, const LayerNormForward& at);

struct LayerNormBackward {
  const float* z;                     // [rows, columns]
  const float *mean, *inverse_sigma;  // [rows]
  const float* gamma;                 // [columns]
  const float* dy;                    // [rows, columns]
  const float* dz_more;               // [rows, columns], what else arrives at z; or null
  float* dz;                          // [rows, columns], also the residual's gradient
  float* dx;                          // [rows, columns], or null: nobody wants it or x is z
  float* sums;                        // [parts, 2, columns]: dgamma and dbeta of each part
};

void layer_norm_backward(const LayerNormShape& shape, int64_t part, const LayerNormBackward& at);

/// Adds the parts up: sums [parts, 2, columns] -> dgamma, dbeta [columns].
void layer_norm_sums(const LayerNormShape& shape, const float* sums, float* dgamma, float* dbeta);

}  // namespace fovea::kernels
