// Log-mel features: how much of each band of pitch there is, every few milliseconds. With n samples
// x in -1 … 1, a step of s and a window of w samples, frame j = 0 … ceil(n / s) - 1 is the window
// around the middle of its own samples j s … (j + 1) s - 1:
//   X_jk = sum_i hann_i x(j s - floor((w - s) / 2) + i) exp(-2 pi i k / N),  N >= w a power of two,
//          hann_i = (1 - cos(2 pi i / w)) / 2, and x = 0 outside of the sound
//   m_jb = log(sum_k f_bk |X_jk|^2 + 1e-8)
// f_b is a triangle on the mel scale, mel = 2595 log10(1 + hertz / 700), which rises from the
// middle of the band below to 1 at its own middle and falls to the middle of the band above. What
// is softer than the loudest m by more than `range` counts as just that soft: how silent silence is
// says something of the room, not of the words. Deltas
// are the slopes over five frames, d_j = sum_n n (m_{j+n} - m_{j-n}) / 10 with n = 1, 2, and the
// ends repeated; the deltas of deltas the same again.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/options.h"

namespace fovea {

struct LogMelOptions {
  int64_t sample_rate = 8000;
  double window = 0.025, step = 0.01;  // seconds
  int64_t bands = 40;
  double lowest = 60, highest = 0;  // hertz; highest 0: half of the sample rate
  double range = 0;                 // decibels; 0: all
  int64_t deltas = 2;               // 0: none, 1: slopes, 2: their slopes too
  void describe(OptionList& list);

  int64_t window_samples() const;
  int64_t step_samples() const;
  int64_t width() const { return bands * (1 + deltas); }  // numbers of a frame
};

/// How many frames a sound of so many samples has.
int64_t frames_of(int64_t samples, const LogMelOptions& options);

/// The hertz at which each band has its middle.
std::vector<double> band_pitches(const LogMelOptions& options);

/// The triangles: [bands, N / 2 + 1]. InvalidArgument for bands that no frequency falls into.
at::Tensor mel_filters(const LogMelOptions& options);

/// Sounds to features. Holds window and filters, so that they are made once.
class LogMel {
 public:
  /// InvalidArgument for options that cannot work.
  explicit LogMel(const LogMelOptions& options);

  /// [frames, bands]
  at::Tensor operator()(std::span<const int16_t> samples) const;

  const LogMelOptions& options() const { return options_; }

 private:
  LogMelOptions options_;
  at::Tensor hann_;     // [w]
  at::Tensor filters_;  // [bins, bands]
};

/// The features, and beside them their deltas. x [T, M] -> [T, M (1 + order)]
at::Tensor with_deltas(const at::Tensor& x, int64_t order);

}  // namespace fovea
