// A recurrent layer that attends to a memory before each step (Bahdanau 2015), forward and backward
// of all steps in one node of the graph, for softmax and for scores that are additive or products:
// by kernels/attention_decoder on a CPU (float32) and on a GPU, or by LibTorch's operations, where
// only what depends on the step before is done step by step. Decoder has the reference, which is
// also the one for gradients of gradients.
#pragma once

#include "fovea/attention/memory.h"
#include "fovea/nn/recurrent/recurrent_layer.h"

namespace fovea {

struct AttentionDecoderOutput {
  at::Tensor states;    // s_t after each step [B, T, H]
  at::Tensor contexts;  // c_t that the step saw [B, T, C]
};

/// Whether run_attention_decoder() knows the score, the memory and the device and type of x.
bool can_run_attention_decoder(const ScoreFunction& score, const Memory& memory,
                               const at::Tensor& x);

/// c_t = attend(s_{t-1}, memory), s_t = cell([x_t ; c_t], s_{t-1}). x [B, T, E]; the layer has one
/// direction; `start` one hidden state [B, H], and a cell where there are such.
AttentionDecoderOutput run_attention_decoder(const RecurrentLayer& layer,
                                             const ScoreFunction& score, const Memory& memory,
                                             const at::Tensor& x, const RecurrentState& start);

/// The same by LibTorch's operations, on every device, in the type of the layer's weights.
AttentionDecoderOutput run_unrolled_attention_decoder(const RecurrentLayer& layer,
                                                      const ScoreFunction& score,
                                                      const Memory& memory, const at::Tensor& x,
                                                      const RecurrentState& start);

}  // namespace fovea
