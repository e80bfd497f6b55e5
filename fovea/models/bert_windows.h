// Texts that are longer than BERT's positions, in windows. A sequence of T tokens is cut every
// `window` tokens; each part is a frame of its own ([CLS] … [SEP]) whose positions begin at 0 and
// that sees nothing of the others. A sequence that fits is one window. For whoever looks in from
// outside there is still one sequence: a map is [B, H, T, T] with a block for each window and 0
// elsewhere.
#pragma once

#include <ATen/core/Tensor.h>

#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

/// input [B, T] -> the encoder's states [B, T, D], 0 in windows of padding alone.
at::Tensor encode_windows(const BertEncoder& encoder, const BertInput& input, int64_t window,
                          const Random* random, Tap* tap);

/// x [B, T, …] -> [B, W, window, …], with zeros at the end.
at::Tensor in_windows(const at::Tensor& x, int64_t window);

}  // namespace fovea
