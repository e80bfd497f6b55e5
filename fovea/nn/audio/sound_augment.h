// Frames of sound a little different at every step of a training, drawn from counter-based random
// numbers: a training that is resumed sees the same ones again. A frame holds bands and, behind
// them, their slopes and the slopes of these, as many of each (data/speech/log_mel.h).
//   tempo       the sound is faster or slower, by a factor for each utterance: frames lie between
//               the old ones, slopes grow with the tempo
//   warp        every pitch becomes a multiple of what it was, as if the speaker were larger or
//               smaller (Jaitly and Hinton 2013)
//   colour      bands are louder or softer along a smooth curve, as another microphone hears them
//   time masks  stretches of frames, and band masks: stretches of bands, become 0, the mean
//               (SpecAugment, Park et al. 2019)
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "fovea/base/options.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct SoundAugmentOptions {
  double tempo = 0;        // at most, as a share
  double warp = 0;         // at most, as a share
  double colour = 0;       // most deviations of each wave of the curve
  int64_t time_masks = 0;  // how many
  int64_t time_mask = 10;  // most frames of each, and at most a fifth of the sound
  int64_t band_masks = 0;
  int64_t band_mask = 6;  // most bands of each
  void describe(OptionList& list);
};

struct AugmentedFrames {
  at::Tensor frames;  // [B, S', F]
  at::Tensor keep;    // bool [B, S']
};

/// frames [B, S, F], keep bool [B, S]: the real ones, which stand first. pitches: the hertz of each
/// band, of which F is a multiple.
AugmentedFrames augment_frames(const at::Tensor& frames, const at::Tensor& keep,
                               std::span<const double> pitches, const SoundAugmentOptions& options,
                               const Random& random);

}  // namespace fovea
