// Layer normalisation (Ba et al. 2016), with the addition in front of it that a Transformer has:
//   z = x, or residual + dropout(x)
//   y = (z - mean(z)) / sqrt(var(z) + epsilon) * gamma + beta            over the columns of a row
// Forward keeps mean and 1/sigma of each row besides z. Backward, with n = (z - mean) / sigma and
// h = dy gamma:
//   dz = (h - mean(h) - n mean(h n)) / sigma + what else arrives at z;  dx = dropout's share of dz
//   dgamma = sum over rows of dy n,  dbeta = sum over rows of dy
// Work is cut into slices of kLayerNormRows rows; the slices' sums are added in their order.
#pragma once

#include <cstdint>

#include "fovea/kernels/device/draws.h"
#include "fovea/kernels/device/number_type.h"
#include "fovea/kernels/dropout/dropout.h"

namespace fovea::kernels {

constexpr int64_t kLayerNormRows = 32;  // rows of one slice

struct LayerNormShape {
  int64_t rows = 0, columns = 0;
  float epsilon = 1e-5f;
  Dropout dropout;  // of x, where there is a residual

  int64_t slices() const { return (rows + kLayerNormRows - 1) / kLayerNormRows; }
};

struct LayerNormForward {
  const float* x;               // [rows, columns]
  const float* residual;        // [rows, columns], or null: z = x
  const float *gamma, *beta;    // [columns]
  float* z;                     // [rows, columns], with a residual; may be x
  float* y;                     // [rows, columns]
  float *mean, *inverse_sigma;  // [rows]
};

void layer_norm_forward(const LayerNormShape& shape, int64_t slice, const LayerNormForward& at);

struct LayerNormBackward {
  const float* z;                     // [rows, columns]
  const float *mean, *inverse_sigma;  // [rows]
  const float* gamma;                 // [columns]
  const float* dy;                    // [rows, columns]
  const float* dz_more;               // [rows, columns], what else arrives at z; or null
  float* dz;                          // [rows, columns], also the residual's gradient
  float* dx;                          // [rows, columns], or null: nobody wants it or x is z
  float* sums;                        // [slices, 2, columns]: dgamma and dbeta of each slice
};

void layer_norm_backward(const LayerNormShape& shape, int64_t slice, const LayerNormBackward& at);

/// Adds the slices up: sums [slices, 2, columns] -> dgamma, dbeta [columns].
void layer_norm_sums(const LayerNormShape& shape, const float* sums, float* dgamma, float* dbeta);

}  // namespace fovea::kernels

// On a GPU, one kernel forward and one backward. Numbers may be float32 or bfloat16 where a type is
// given; a residual is float32 or has the type of x. All pointers are multiples of 16 bytes.
// Nothing is drawn and stored: see device/draws.h. Everything is launched on `stream`, a
// cudaStream_t.
namespace fovea::kernels::device {

/// Whole packs of four columns, and a row in the registers of one warp.
bool layer_norm_takes(int64_t columns);

struct LayerNormShape {
  int64_t rows = 0, columns = 0;
  float epsilon = 1e-5f;
  NumberType x = NumberType::Float32, y = NumberType::Float32;
  bool adds = false;                          // there is a residual
  NumberType residual = NumberType::Float32;  // then its type
  DeviceDropout dropout{};                    // then that of x
};

struct LayerNormForward {
  const void* x;                // [rows, columns]
  const void* residual;         // [rows, columns], where the shape has one
  const float *gamma, *beta;    // [columns]
  float* z;                     // [rows, columns], where there is a residual
  void* y;                      // [rows, columns]
  float *mean, *inverse_sigma;  // [rows]
};

void layer_norm_forward(const LayerNormShape& shape, const LayerNormForward& at, void* stream);

struct LayerNormBackward {
  const void* z;                      // [rows, columns]: float32, or x where there is no residual
  const float *mean, *inverse_sigma;  // [rows]
  const float* gamma;                 // [columns]
  const void* dy;                     // [rows, columns] in the type of y
  const float* dz_more;               // [rows, columns], what else arrives at z; or null
  void* dz;                           // [rows, columns] in the type of the residual; or null
  void* dx;                           // [rows, columns] in the type of x; or null
  float* slices;                      // [layer_norm_slices(rows), 2, columns], overwritten
  float *dgamma, *dbeta;              // [columns]
};

int64_t layer_norm_slices(int64_t rows);
void layer_norm_backward(const LayerNormShape& shape, const LayerNormBackward& at, void* stream);

/// z = residual + dropout(x) alone, over `count` numbers, a multiple of 4; residual and z float32.
void dropped_sum_forward(const DeviceDropout& dropout, NumberType type, int64_t count,
                         const void* x, const float* residual, float* z, void* stream);
/// dx = dropout's share of dz, in the type of x.
void dropped_sum_backward(const DeviceDropout& dropout, NumberType type, int64_t count,
                          const float* dz, void* dx, void* stream);

}  // namespace fovea::kernels::device
