// The GRU whose reset gate is not torch's (ResetGate in recurrent.h), in LibTorch operations:
//   r = sig(W_r x + b_r + U_r h + b_r'),  z likewise
//   before   h~ = tanh(W x + b + U (r * h) + b')           Cho 2014's encoder, Bahdanau 2015
//   inputs   h~ = tanh(W x + b + r * (U h + C c + b'))     Cho 2014's decoder; [x ; c] comes in
//   h_new = (1 - z) * h~ + z * h
#pragma once

#include "fovea/nn/recurrent/recurrent_layer.h"

namespace fovea {

/// What does not depend on the state. [B, (S,) …]
struct GruInputs {
  at::Tensor sums;   // W x + b of r, z and h~ [3 H]
  at::Tensor gated;  // C c of h~ [H], or undefined
  GruInputs select(int64_t step) const;
};

/// x [B, (S,) I]; the layer has one direction.
GruInputs gru_inputs(const RecurrentLayer& layer, const at::Tensor& x);

/// The state after the step. hidden [B, H]
at::Tensor gru_step(const RecurrentLayer& layer, const GruInputs& inputs, const at::Tensor& hidden);
at::Tensor gru_step(const RecurrentLayer& layer, const at::Tensor& x, const at::Tensor& hidden);

}  // namespace fovea
