// Few rows times a matrix of bfloat16, as a language model multiplies when it writes token by
// token:
//   y[n, o] = sum_i x[n, i] W[o, i] + b[o]
// The weights are widened on the way from memory, which sets the pace; everything else is float32.
// Each output is one sum in a fixed order: the same bits however the outputs are cut into slices.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct HalfProduct {
  int64_t rows = 0, in = 0, out = 0;
  const float* x = nullptr;          // [rows, in]
  const uint16_t* weight = nullptr;  // [out, in], bfloat16
  const float* bias = nullptr;       // [out], or null
  float* y = nullptr;                // [rows, out]
};

/// The outputs first … last - 1 of all rows.
void half_product(const HalfProduct& of, int64_t first, int64_t last);

}  // namespace fovea::kernels
