#include "fovea/data/speech/frames.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kLeastDeviation = 1e-3;  // silence has none

/// Low to high bands, one column per unit: the mean of its frames. bands [T, M] -> [M, units]
Tensor spectrogram_of(const Tensor& bands, int64_t unit_frames) {
  const int64_t units = units_of(bands.size(0), unit_frames);
  const Tensor place =
      at::arange(units * unit_frames, at::kLong).clamp_max(bands.size(0) - 1);  // the last repeats
  const Tensor frames = bands.index_select(0, place);
  return frames.view({units, unit_frames, bands.size(1)}).mean(1).t().contiguous();
}

Axis unit_axis(const Tensor& bands, const SpeechFeatures& features) {
  Axis axis{"source", "frame", {}};
  const double seconds = double(features.unit_frames * features.log_mel.step_samples()) /
                         double(features.log_mel.sample_rate);
  for (int64_t unit = 0; unit < units_of(bands.size(0), features.unit_frames); ++unit) {
    axis.times.push_back(double(unit) * seconds);
    axis.labels.push_back(concat(format_number(axis.times.back(), 6), " s"));
  }
  axis.time_unit = "seconds";
  axis.media = "sound";
  axis.spectrogram = spectrogram_of(bands, features.unit_frames);
  return axis;
}

Tensor samples_tensor(std::span<const int16_t> samples) {
  Tensor tensor = at::empty({int64_t(samples.size())}, at::TensorOptions(at::kShort));
  if (!samples.empty()) std::memcpy(tensor.data_ptr(), samples.data(), samples.size_bytes());
  return tensor;
}

}  // namespace

Tensor normalised(const Tensor& frames, const Normalisation& by) {
  return (frames - by.mean) / by.deviation;
}

Normalisation no_normalisation(int64_t width) {
  return {at::zeros({width}, at::kFloat), at::ones({width}, at::kFloat)};
}

void FrameStatistics::add(const Tensor& bands, const LogMelOptions& options) {
  Tensor frames = with_deltas(bands, options.deltas);  // [T, F]
  if (options.range > 0) {
    const Tensor heard = bands.amax(1) > bands.min();  // [T]: above the floor
    if (heard.any().item<bool>()) frames = frames.index({heard});
  }
  const Tensor own = frames.to(at::kDouble);
  const Tensor sum = own.sum(0), squares = own.square().sum(0);  // [F]
  sum_ = sum_.defined() ? sum_ + sum : sum;
  squares_ = squares_.defined() ? squares_ + squares : squares;
  count_ += double(frames.size(0));
}

Normalisation FrameStatistics::result() const {
  const Tensor mean = sum_ / count_;
  const Tensor deviation = (squares_ / count_ - mean.square()).clamp_min(0).sqrt();
  return {mean.to(at::kFloat), deviation.clamp_min(kLeastDeviation).to(at::kFloat)};
}

int64_t units_of(int64_t frames, int64_t unit_frames) {
  return (frames + unit_frames - 1) / unit_frames;
}

Example example_of(const Sound& sound, const Tensor& bands, const Normalisation& by,
                   const SpeechFeatures& features) {
  Example example;
  example.tensors = {{"source", normalised(with_deltas(bands, features.log_mel.deltas), by)},
                     {"samples", samples_tensor(sound.samples)},
                     {"mean", by.mean},
                     {"deviation", by.deviation}};
  example.axes.push_back(unit_axis(bands, features));
  example.media.push_back({"sound", "audio/wav", encode_wav(sound.samples, sound.rate), 0, 0,
                           concat("a sound of ", format_duration(sound.seconds()))});
  return example;
}

Example example_of(const Sound& sound, const SpeechFeatures& features) {
  const Tensor bands = LogMel(features.log_mel)(sound.samples);
  if (features.normalise == "training")
    return example_of(sound, bands, features.training, features);
  if (features.normalise == "none")
    return example_of(sound, bands, no_normalisation(features.log_mel.width()), features);
  FrameStatistics statistics;
  statistics.add(bands, features.log_mel);
  return example_of(sound, bands, statistics.result(), features);
}

Example erase_sound(const Example& example, std::span<const int64_t> units,
                    const SpeechFeatures& features) {
  Example erased = example;
  if (units.empty()) return erased;
  const auto count = int64_t(example.axis("source").labels.size());
  const int64_t length = features.unit_frames * features.log_mel.step_samples();  // of a unit
  Tensor samples = example.tensors.at("samples").clone();
  for (const int64_t unit : units) {
    require(unit >= 0 && unit < count, ErrorKind::InvalidArgument, "there is no unit ", unit,
            " among ", count);
    const int64_t begin = unit * length;
    samples.narrow(0, begin, std::min(length, samples.size(0) - begin)).zero_();
  }
  const Tensor bands =
      LogMel(features.log_mel)({samples.data_ptr<int16_t>(), size_t(samples.numel())});
  erased.tensors["samples"] = samples;
  erased.tensors["source"] =
      normalised(with_deltas(bands, features.log_mel.deltas),
                 {example.tensors.at("mean"), example.tensors.at("deviation")});
  return erased;
}

std::pair<Tensor, Tensor> pad_frames(const std::vector<Tensor>& frames) {
  int64_t longest = 1;
  for (const Tensor& own : frames) longest = std::max(longest, own.size(0));
  const auto rows = int64_t(frames.size());
  const int64_t width = frames.empty() ? 0 : frames[0].size(1);
  Tensor source = at::zeros({rows, longest, width}, at::kFloat);
  Tensor keep = at::zeros({rows, longest}, at::kBool);
  for (int64_t row = 0; row < rows; ++row) {
    const Tensor& own = frames[size_t(row)];
    source[row].narrow(0, 0, own.size(0)).copy_(own);
    keep[row].narrow(0, 0, own.size(0)).fill_(true);
  }
  return {source, keep};
}

Batch collate_speech(std::span<const Example> examples) {
  std::vector<Tensor> frames;
  for (const Example& example : examples) {
    const auto found = example.tensors.find("source");
    require(found != example.tensors.end() && found->second.dim() == 2, ErrorKind::InvalidArgument,
            "an example has no frames called 'source'");
    frames.push_back(found->second);
  }
  const auto [source, keep] = pad_frames(frames);
  return {{{"source", source}, {"source.keep", keep}}, int64_t(examples.size())};
}

}  // namespace fovea
