// One step of a recurrent cell and its gradient by LibTorch's operations, for layers that walk over
// their steps themselves (nn/decoder/attention_decoder_unrolled.cc). The caller multiplies: from
// the input come the products W x [B, G H], from the state U h. On a GPU LibTorch has kernels for
// GRU and LSTM.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "fovea/kernels/recurrent/recurrent.h"

namespace fovea {

struct CellProducts {
  at::Tensor input, recurrent;  // W x and U h, without their biases [B, G H]
};

struct CellState {
  at::Tensor hidden;     // [B, H]
  at::Tensor cell = {};  // lstm
};

struct CellStep {
  CellState state;
  std::vector<at::Tensor> saved;  // for the backward pass, cell_saves() of them
};

/// How many tensors a step keeps.
size_t cell_saves(kernels::RecurrentCell cell);

CellStep cell_forward(kernels::RecurrentCell cell, const CellProducts& products,
                      const CellState& before, const at::Tensor& input_bias,
                      const at::Tensor& recurrent_bias);

struct CellGradient {
  CellProducts products;
  CellState before;  // by way of the cell alone, without U h
};

CellGradient cell_backward(kernels::RecurrentCell cell, at::TensorList saved,
                           const CellState& arrived);

}  // namespace fovea
