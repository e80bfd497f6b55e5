// Layer normalisation on a GPU with the addition and the dropout in front of it, one kernel forward
// and one backward; kernels/layer_norm.h has the same for a CPU.
//   z = x, or residual + dropout(x)
//   y = (z - mean(z)) / sqrt(var(z) + epsilon) * gamma + beta            over the columns of a row
// Forward keeps mean and 1/sigma of each row besides z. Backward, with n = (z - mean) / sigma and
// h = dy gamma:
//   dz = (h - mean(h) - n mean(h n)) / sigma + what else arrives at z;  dx = dropout's share of dz
//   dgamma = sum over rows of dy n,  dbeta = sum over rows of dy
// Numbers may be float32 or bfloat16 where a type is given; a residual is float32 or has the type
// of x. All pointers are multiples of 16 bytes. Nothing is drawn and stored: see draws.h.
// Everything is launched on `stream`, a cudaStream_t.
#pragma once

#include <cstdint>

#include "fovea/kernels/device/draws.h"
#include "fovea/kernels/device/number_type.h"

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
  float* parts;                       // [layer_norm_parts(rows), 2, columns], overwritten
  float *dgamma, *dbeta;              // [columns]
};

int64_t layer_norm_parts(int64_t rows);
void layer_norm_backward(const LayerNormShape& shape, const LayerNormBackward& at, void* stream);

/// z = residual + dropout(x) alone, over `count` numbers, a multiple of 4; residual and z float32.
void dropped_sum_forward(const DeviceDropout& dropout, NumberType type, int64_t count,
                         const void* x, const float* residual, float* z, void* stream);
/// dx = dropout's share of dz, in the type of x.
void dropped_sum_backward(const DeviceDropout& dropout, NumberType type, int64_t count,
                          const float* dz, void* dx, void* stream);

}  // namespace fovea::kernels::device
