// The inputs of questions with choices, which share tokens, as frames for an encoder, and the
// encoder's maps of frames as maps of the shared sequence (bert_chooser.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "fovea/tensor/tap.h"

namespace fovea {

/// Which of the B * C frames hold anything, and where their tokens stand.
struct ChoiceFrames {
  int64_t rows, choices, width, length;  // B, C, T, N
  at::Tensor real;                       // int64 [F]: which of the B * C frames are there
  at::Tensor units;  // int64 [F, T]: places among the B * N tokens; the row's first one at padding
  at::Tensor keep;   // bool [F, T], false at padding

  /// frames [B, C, T], of sequences of `length` tokens.
  ChoiceFrames(const at::Tensor& frames, int64_t length);

  /// x [B, N, …] -> [F, T, …]
  at::Tensor cut(const at::Tensor& x) const;
  /// x [F] -> [B, C], with `otherwise` where there is no frame.
  at::Tensor placed(const at::Tensor& x, double otherwise) const;
};

/// Stands between an encoder, which sees frames, and a tap, which sees the shared sequence.
/// `chosen` [B]: the choice whose frame the rows of shared tokens are taken from.
std::unique_ptr<Tap> make_frame_tap(Tap& outer, const ChoiceFrames& frames,
                                    const at::Tensor& chosen);

}  // namespace fovea
