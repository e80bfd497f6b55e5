// What follows a matrix product on a GPU, in one kernel each way; kernels/activation.h has the same
// for a CPU, with the formulas of the activations and their slopes:
//   y = dropout(act(x + bias)),   dx = dropout's share of dy * act'(x + bias),   dbias = sum of dx
// Numbers may be float32 or bfloat16; sums are float32 and come in one order, hence with the same
// bits each time.
// Which elements are dropped: draws.h. Everything is launched on `stream`, a cudaStream_t.
#pragma once

#include <cstdint>

#include "fovea/kernels/activation.h"
#include "fovea/kernels/device/column_sums.h"
#include "fovea/kernels/device/draws.h"
#include "fovea/kernels/device/number_type.h"

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
  const void* kept;  // [rows, columns]: y for relu, else x
  const void* dy;    // [rows, columns]
  void* dx;          // [rows, columns], neither of the two above
  float* parts;      // [column_parts(rows, columns), columns], overwritten
  float* dbias;      // [columns]; null, as the parts then may be: nobody wants it
};

void activation_backward(const ActivationShape& shape, const ActivationBackward& at, void* stream);

}  // namespace fovea::kernels::device
