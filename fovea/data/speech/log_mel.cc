#include "fovea/data/speech/log_mel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kFloor = 1e-8;  // about the power of 16-bit rounding
constexpr int64_t kReach = 2;    // frames to each side of a slope

double mel_of(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}

double hertz_of(double mel) {
  return 700 * (std::pow(10, mel / 2595) - 1);
}

int64_t transform_size(const LogMelOptions& options) {
  return int64_t(std::bit_ceil(uint64_t(options.window_samples())));
}

/// Where the first band begins, the middle of each, and where the last ends, in hertz.
std::vector<double> mel_points(const LogMelOptions& options) {
  const double half = double(options.sample_rate) / 2;
  const double highest = options.highest > 0 ? options.highest : half;
  require(options.lowest < highest && highest <= half, ErrorKind::InvalidArgument,
          "bands from data.lowest=", options.lowest, " to data.highest=", highest,
          " hertz do not fit data.sample_rate=", options.sample_rate,
          ", which holds frequencies up to half of it");
  const double low = mel_of(options.lowest), high = mel_of(highest);
  std::vector<double> points;
  for (int64_t point = 0; point < options.bands + 2; ++point)
    points.push_back(hertz_of(low + (high - low) * double(point) / double(options.bands + 1)));
  return points;
}

/// Slopes over five frames. x [T, M]
Tensor slopes(const Tensor& x) {
  const int64_t frames = x.size(0);
  const Tensor place = at::arange(frames, at::kLong);
  const auto moved = [&](int64_t by) {
    return x.index_select(0, (place + by).clamp(0, frames - 1));
  };
  Tensor sum = at::zeros_like(x);
  double scale = 0;
  for (int64_t n = 1; n <= kReach; ++n) {
    sum = sum + double(n) * (moved(n) - moved(-n));
    scale += 2 * double(n * n);
  }
  return sum / scale;
}

}  // namespace

void LogMelOptions::describe(OptionList& list) {
  list.add("sample_rate", sample_rate, "samples of a second that every sound is brought to")
      .within(4000, 48000);
  list.add("window", window, "seconds of sound that a frame sees").within(0.002, 0.5);
  list.add("step", step, "seconds from one frame to the next").within(0.001, 0.5);
  list.add("bands", bands, "bands of pitch, evenly spread on the mel scale").within(2, 512);
  list.add("lowest", lowest, "hertz at which the lowest band begins").at_least(0);
  list.add("highest", highest, "hertz at which the highest band ends; 0: half of the sample rate")
      .at_least(0);
  list.add("range", range,
           "decibels below the loudest of a sound; what is softer counts as that soft; 0: no limit")
      .at_least(0);
  list.add("deltas", deltas, "slopes beside the bands: 0 none, 1 slopes, 2 their slopes too")
      .within(0, 2);
}

int64_t LogMelOptions::window_samples() const {
  return std::max<int64_t>(2, std::llround(window * double(sample_rate)));
}

int64_t LogMelOptions::step_samples() const {
  return std::max<int64_t>(1, std::llround(step * double(sample_rate)));
}

int64_t frames_of(int64_t samples, const LogMelOptions& options) {
  const int64_t step = options.step_samples();
  return (samples + step - 1) / step;
}

std::vector<double> band_pitches(const LogMelOptions& options) {
  const std::vector<double> points = mel_points(options);
  return {points.begin() + 1, points.end() - 1};
}

Tensor mel_filters(const LogMelOptions& options) {
  const int64_t bins = transform_size(options) / 2 + 1;
  const std::vector<double> points = mel_points(options);
  Tensor filters = at::zeros({options.bands, bins}, at::kFloat);
  float* weights = filters.data_ptr<float>();
  for (int64_t band = 0; band < options.bands; ++band) {
    const double from = points[size_t(band)], peak = points[size_t(band) + 1];
    const double to = points[size_t(band) + 2];
    bool is_empty = true;
    for (int64_t bin = 0; bin < bins; ++bin) {
      const double hertz = double(bin) * double(options.sample_rate) / double(2 * (bins - 1));
      const double weight = std::min((hertz - from) / (peak - from), (to - hertz) / (to - peak));
      if (weight <= 0) continue;
      weights[band * bins + bin] = float(weight);
      is_empty = false;
    }
    require(!is_empty, ErrorKind::InvalidArgument, "data.bands=", options.bands, ": band ",
            band + 1, " lies between two frequencies of a window of ", options.window,
            " s; use fewer bands or a longer window");
  }
  return filters;
}

LogMel::LogMel(const LogMelOptions& options) : options_(options) {
  const int64_t window = options_.window_samples();
  require(options_.step_samples() <= window, ErrorKind::InvalidArgument,
          "data.step=", options_.step, " is longer than data.window=", options_.window,
          ": what lies between two windows would not be heard");
  const Tensor place = at::arange(window, at::kDouble);
  hann_ = ((1 - (place * (2 * std::numbers::pi / double(window))).cos()) / 2).to(at::kFloat);
  filters_ = mel_filters(options_).t().contiguous();
}

Tensor LogMel::operator()(std::span<const int16_t> samples) const {
  require(!samples.empty(), ErrorKind::BadData, "a sound without samples has no features");
  const int64_t window = options_.window_samples(), step = options_.step_samples();
  const int64_t frames = frames_of(int64_t(samples.size()), options_);
  const int64_t before = (window - step) / 2;
  Tensor padded = at::zeros({frames * step + window}, at::kFloat);
  float* values = padded.data_ptr<float>() + before;
  for (size_t i = 0; i < samples.size(); ++i) values[i] = float(samples[i]) / 32768;
  const Tensor windows = padded.unfold(0, window, step).narrow(0, 0, frames) * hann_;  // [T, w]
  const Tensor spectrum = at::fft_rfft(windows, transform_size(options_), -1);         // [T, bins]
  const Tensor power = at::view_as_real(spectrum).square().sum(-1);                    // [T, bins]
  const Tensor bands = (at::matmul(power, filters_) + kFloor).log();                   // [T, M]
  if (options_.range == 0) return bands;
  return at::maximum(bands, bands.max() - options_.range * std::numbers::ln10 / 10);
}

Tensor with_deltas(const Tensor& x, int64_t order) {
  std::vector<Tensor> parts{x};
  for (int64_t i = 0; i < order; ++i) parts.push_back(slopes(parts.back()));
  return at::cat(parts, 1);
}

}  // namespace fovea
