// A recurrent layer that looks at a memory before each step (Bahdanau 2015), forward and backward
// of all steps in one node of the graph, for softmax and for scores that are additive or products:
// by kernels/attentive_recurrent (float32 on a CPU), or, on a GPU, by LibTorch's operations, where
// only what depends on the step before is done step by step. Decoder has the readable way, which
// is also the one for gradients of gradients.
#pragma once

#include "fovea/attention/memory.h"
#include "fovea/nn/recurrent_layer.h"

namespace fovea {

struct AttentiveOutput {
  at::Tensor states;    // s_t after each step [B, T, H]
  at::Tensor contexts;  // c_t that the step saw [B, T, C]
};

/// Whether run_attentive_layer() knows the score, the memory and the device and type of x.
bool can_run_attentive_layer(const ScoreFunction& score, const Memory& memory, const at::Tensor& x);

/// c_t = attend(s_{t-1}, memory), s_t = cell([x_t ; c_t], s_{t-1}). x [B, T, E]; the layer has one
/// direction; `start` one hidden state [B, H], and a cell where there are such.
AttentiveOutput run_attentive_layer(const RecurrentLayer& layer, const ScoreFunction& score,
                                    const Memory& memory, const at::Tensor& x,
                                    const RecurrentState& start);

/// The same by LibTorch's operations, on every device, in the type of the layer's weights.
AttentiveOutput run_unrolled_attentive_layer(const RecurrentLayer& layer,
                                             const ScoreFunction& score, const Memory& memory,
                                             const at::Tensor& x, const RecurrentState& start);

}  // namespace fovea
