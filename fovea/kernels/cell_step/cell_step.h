// One step of a recurrent cell (recurrent.h) from products that the caller has made, where others
// are wanted than those of recurrent_forward(), such as rounded ones.
#pragma once

#include "fovea/kernels/device/number_type.h"
#include "fovea/kernels/recurrent/recurrent.h"

namespace fovea::kernels {

struct CellRows {
  int64_t rows = 0, hidden = 0;               // B, H
  const float *x = nullptr, *u = nullptr;     // W x + b and U h + b' [B, G H]
  float *state = nullptr, *memory = nullptr;  // h and, of an LSTM, c [B, H]: before, then after
};

void cell_step(RecurrentCell cell, const CellRows& at);

}  // namespace fovea::kernels

// On a GPU, and its gradient: what enters or leaves a matrix product has one type T, float32 or
// bfloat16; states and gates are float32. Everything is launched on `stream`, a cudaStream_t.
namespace fovea::kernels::device {

/// One step of a cell. `input` holds W x + Z z and `recurrent` U h, both without biases [B, G H].
struct CellForward {
  NumberType type = NumberType::Float32;
  const void *input = nullptr, *recurrent = nullptr;
  int64_t recurrent_row = 0;  // numbers between two rows of it
  const float *input_bias = nullptr, *recurrent_bias = nullptr;
  const float *hidden_before = nullptr, *cell_before = nullptr;  // [B, H]
  float* gates = nullptr;                                        // [B, K H], for backward
  float *hidden = nullptr, *cell = nullptr;                      // h', c' [B, H]
  void* rounded = nullptr;                                       // h' in T once more, or null
};

void cell_forward(const RecurrentShape& shape, const CellForward& step, void* stream);

struct CellBackward {
  NumberType type = NumberType::Float32;
  const float* gates = nullptr;                                  // from the forward pass
  const float *hidden_before = nullptr, *cell_before = nullptr;  // [B, H]
  const float *hidden = nullptr, *cell = nullptr;                // h', c'
  // What arrives at h': from outside, by way of the next step's products, and past them.
  const void* outside = nullptr;              // [B, H] in T, or null
  const void* products = nullptr;             // [B, H] in T, or null
  float *past = nullptr, *of_cell = nullptr;  // [B, H], c's in the second: read, then what goes on
  void *input = nullptr, *recurrent = nullptr;  // d(W x + Z z), d(U h) [B, G H]
  int64_t recurrent_row = 0;
};

void cell_backward(const RecurrentShape& shape, const CellBackward& step, void* stream);

}  // namespace fovea::kernels::device
