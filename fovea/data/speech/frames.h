// Frames of sound as the task `speech` gives them to a model: log-mel features with their slopes,
// normalised, one example or several side by side. A unit is what the model's encoder makes one
// vector of: some frames.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/speech/log_mel.h"
#include "fovea/data/speech/sound.h"
#include "fovea/tensor/example.h"

namespace fovea {

/// y = (x - mean) / deviation
struct Normalisation {
  at::Tensor mean, deviation;  // [F]
};

at::Tensor normalised(const at::Tensor& frames, const Normalisation& by);
/// Mean 0, deviation 1: nothing changes.
Normalisation no_normalisation(int64_t width);

/// Mean and deviation of each number of a frame over some sounds, gathered in double. With
/// data.range, frames of which nothing lies within it are left out: how long a recording is silent
/// must not decide what normal is.
class FrameStatistics {
 public:
  void add(const at::Tensor& bands, const LogMelOptions& options);  // [T, M]
  Normalisation result() const;

 private:
  at::Tensor sum_, squares_;  // [F]
  double count_ = 0;
};

/// How sounds become frames.
struct SpeechFeatures {
  LogMelOptions log_mel;
  std::string normalise = "utterance";  // or speaker, training, none
  Normalisation training;               // normalise=training: undefined until it is learned
  int64_t unit_frames = 1;              // frames of a unit: the model's
};

/// How many units so many frames are.
int64_t units_of(int64_t frames, int64_t unit_frames);

/// A sound as an example: "source" [frames, F] and what erase_sound() needs, the axis "source" of
/// units with times and spectrogram, over the medium "sound". bands: log-mel [frames, M].
Example example_of(const Sound& sound, const at::Tensor& bands, const Normalisation& by,
                   const SpeechFeatures& features);
/// The same of a sound that comes alone: its speaker is known by it and nothing else.
Example example_of(const Sound& sound, const SpeechFeatures& features);

/// The example with silence in the place of these units. The normalisation stays, so that nothing
/// else changes.
Example erase_sound(const Example& example, std::span<const int64_t> units,
                    const SpeechFeatures& features);

/// Frames [T, F] side by side, padded with 0: [B, longest, F], and bool [B, longest]: the real
/// ones.
std::pair<at::Tensor, at::Tensor> pad_frames(const std::vector<at::Tensor>& frames);

/// "source" [B, frames, F] and "source.keep".
Batch collate_speech(std::span<const Example> examples);

}  // namespace fovea
