// What follows a matrix product in a feed-forward block or a readout, in one pass: y =
// dropout(act(x
// + bias)),
//   relu  max(u, 0)
//   gelu  u Phi(u), Phi the normal distribution function; Hendrycks and Gimpel 2016, exact form
//   tanh  tanh(u)
// Backward: du = dropout's share of dy, times act'(u); dbias = sum over rows of du. relu' is 1
// where y > 0, so that y is all it needs, the dropped elements included; gelu' = Phi(u) + u phi(u),
// tanh' = 1 - tanh(u)^2.
// A NaN that is not dropped stays one. Work is cut into slices of kActivationRows rows; the slices'
// sums are added in their order.
#pragma once

#include <cstdint>

#include "fovea/kernels/column_sums/column_sums.h"
#include "fovea/kernels/device/draws.h"
#include "fovea/kernels/device/number_type.h"
#include "fovea/kernels/dropout/dropout.h"

namespace fovea::kernels {

constexpr int64_t kActivationRows = 32;  // rows of one slice

enum class Activation { Relu, Gelu, Tanh };

struct ActivationShape {
  Activation kind = Activation::Relu;
  int64_t rows = 0, columns = 0;
  Dropout dropout{};  // of the result

  int64_t slices() const { return (rows + kActivationRows - 1) / kActivationRows; }
};

/// x, y [rows, columns], bias [columns]. y may be x.
void activation_forward(const ActivationShape& shape, int64_t slice, const float* x,
                        const float* bias, float* y);

struct ActivationBackward {
  const float* saved;  // [rows, columns]: y for relu, else x
  const float* bias;   // [columns], for all but relu
  const float* dy;     // [rows, columns]
  float* dx;           // [rows, columns], the same as du; may be dy
  float* sums;         // [slices, columns]: dbias of each slice
};

void activation_backward(const ActivationShape& shape, int64_t slice, const ActivationBackward& at);

/// Adds the slices up: sums [slices, columns] -> dbias [columns].
void activation_sums(const ActivationShape& shape, const float* sums, float* dbias);

}  // namespace fovea::kernels

// On a GPU, in one kernel each way. Numbers may be float32 or bfloat16; sums are float32 and come
// in one order, hence with the same bits each time. Which elements are dropped: device/draws.h.
// Everything is launched on `stream`, a cudaStream_t.
namespace fovea::kernels::device {

struct ActivationShape {
  Activation kind = Activation::Relu;
  NumberType type = NumberType::Float32;  // of all but the bias
  int64_t rows = 0, columns = 0;
  const float* bias = nullptr;  // [columns], or null: 0
  DeviceDropout dropout{};      // of the result
};

/// Rows that are whole packs of 16 bytes. Pointers must be multiples of 16 bytes, too.
bool activation_takes(NumberType type, int64_t rows, int64_t columns);

/// x, y [rows, columns]. y may be x.
void activation_forward(const ActivationShape& shape, const void* x, void* y, void* stream);

struct ActivationBackward {
  const void* saved;  // [rows, columns]: y for relu, else x
  const void* dy;     // [rows, columns]
  void* dx;           // [rows, columns], neither of the two above
  float* slices;      // [column_slices(rows, columns), columns], overwritten
  float* dbias;       // [columns]; null, as the slices then may be: nobody wants it
};

void activation_backward(const ActivationShape& shape, const ActivationBackward& at, void* stream);

}  // namespace fovea::kernels::device
