// Products with a matrix that does not change between calls, such as the weights of a decoder
// during a search: it is packed once, so that even a call with few rows reads it as fast as memory
// gives it.
//   y = act(x W^T + b)            act: nothing, max(u, 0), or tanh
// A number of y depends on its row of x alone and is always summed in the same order: a row gives
// the same bits in any batch. Rounded: W and x are rounded to bfloat16 and their products added up
// in float32, which processors with AVX-512 BF16 do at twice the speed.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr int64_t kSliceOutputs = 256;  // outputs of one slice
constexpr int64_t kMostRoundedInputs = 8192;

struct PackedShape {
  int64_t inputs = 0, outputs = 0;
  bool rounded = false;  // only where multiplies_bf16(), and up to kMostRoundedInputs

  int64_t packed() const;  // floats of the packed matrix, bias included
  int64_t slices() const;  // of the outputs; they can be computed in any order
};

/// weight [outputs, inputs], bias [outputs] or null: 0.
void pack_matrix(const PackedShape& shape, const float* weight, const float* bias, float* packed);

enum class Finish { None, Relu, Tanh };

struct PackedRows {
  int64_t rows = 0;
  const float* x = nullptr;  // [rows, inputs]
  int64_t x_row = 0;         // numbers between two rows
  float* y = nullptr;        // [rows, outputs]
  int64_t y_row = 0;
  Finish finish = Finish::None;
};

/// The outputs of one slice, for all rows.
void packed_product(const PackedShape& shape, int64_t slice, const float* packed,
                    const PackedRows& at);

}  // namespace fovea::kernels
