#include "fovea/nn/audio/sound_augment.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kMostMasked = 0.2;  // of a sound, by one mask
constexpr int64_t kWaves = 4;        // of a curve over the bands

/// One number for each utterance, on the frames' device. -> [B]
Tensor draw(const Random& random, double low, double high, const Tensor& frames) {
  return random.uniform_tensor({frames.size(0)}, low, high, at::kDouble)
      .to(frames.device(), frames.scalar_type());
}

Tensor arange_like(int64_t count, const Tensor& numbers) {
  return at::arange(count, numbers.options());
}

/// What stands between two neighbours of dimension `dim`. x [B, S, D], place [B, N], last [B] or a
/// number for all: the last real neighbour -> [B, N, D] or [B, S, N]
Tensor between(const Tensor& x, const Tensor& place, const Tensor& last, int64_t dim) {
  const Tensor bounded = at::minimum(place.clamp_min(0), last);  // [B, N]
  const Tensor below = bounded.floor();
  const Tensor above = at::minimum(below + 1, last);
  const auto pick = [&](const Tensor& index) {
    Tensor whole = index.to(at::kLong).unsqueeze(dim == 1 ? 2 : 1);
    auto shape = x.sizes().vec();
    shape[size_t(dim)] = place.size(1);
    return x.gather(dim, whole.expand(shape));
  };
  const Tensor share = (bounded - below).unsqueeze(dim == 1 ? 2 : 1);
  return pick(below) * (1 - share) + pick(above) * share;
}

/// frames [B, S, F], lengths [B]; `speed` [B] frames of the old sound in the time of a new one.
AugmentedFrames at_tempo(const Tensor& frames, const Tensor& lengths, const Tensor& speed,
                         int64_t bands) {
  const Tensor shorter = (lengths / speed).round().clamp_min(1) * (lengths > 0);  // [B]
  const auto longest = std::max<int64_t>(1, shorter.max().item<int64_t>());
  const Tensor index = arange_like(longest, frames).unsqueeze(0);   // [1, S']
  const Tensor last = (lengths - 1).clamp_min(0).unsqueeze(1);      // [B, 1]
  Tensor x = between(frames, index * speed.unsqueeze(1), last, 1);  // [B, S', F]
  const int64_t blocks = frames.size(2) / bands;
  std::vector<Tensor> scales;  // speed^0 for the bands, speed^1 for their slopes, …
  for (int64_t block = 0; block < blocks; ++block) scales.push_back(speed.pow(double(block)));
  const Tensor scale = at::stack(scales, 1).repeat_interleave(bands, 1);  // [B, F]
  const Tensor keep = index < shorter.unsqueeze(1);                       // [B, S']
  return {x * scale.unsqueeze(1) * keep.unsqueeze(2), keep};
}

/// Every pitch holds what `stretch` times that pitch held. x [B, S, F], stretch [B]
Tensor warped(const Tensor& x, const Tensor& stretch, std::span<const double> pitches) {
  const auto bands = int64_t(pitches.size());
  const Tensor hertz =
      at::tensor(at::ArrayRef<double>(pitches.data(), pitches.size()), x.options());
  const Tensor wanted = stretch.unsqueeze(1) * hertz;  // [B, M]
  const Tensor below = (at::searchsorted(hertz, wanted) - 1).clamp(0, bands - 2);
  const Tensor low = hertz.index({below}), high = hertz.index({below + 1});
  const Tensor place = below + (wanted - low) / (high - low);  // [B, M]
  const Tensor last = at::full({1, 1}, double(bands - 1), x.options());
  std::vector<Tensor> blocks;
  for (const Tensor& block : x.split(bands, 2)) blocks.push_back(between(block, place, last, 2));
  return at::cat(blocks, 2);
}

/// A smooth curve over the bands for each utterance, made of waves. -> [B, M]
Tensor curve(const Random& random, double most, int64_t bands, const Tensor& frames) {
  const Tensor angle = (arange_like(bands, frames) + 0.5) * (std::numbers::pi / double(bands));
  Tensor sum = at::zeros({frames.size(0), bands}, frames.options());
  for (int64_t wave = 0; wave < kWaves; ++wave)
    sum = sum + draw(random.split(uint64_t(wave)), -most, most, frames).unsqueeze(1) *
                    (angle * double(wave)).cos();
  return sum;
}

/// Which of `count` places lie in a stretch that was drawn. widest, length: [B] -> bool [B, count]
Tensor stretch_of(const Random& random, const Tensor& widest, const Tensor& length, int64_t count,
                  const Tensor& frames) {
  const Tensor width = (draw(random.split("width"), 0, 1, frames) * (widest + 1)).floor();
  const Tensor begin = (draw(random.split("begin"), 0, 1, frames) * (length - width + 1)).floor();
  const Tensor place = arange_like(count, frames).unsqueeze(0);
  return (place >= begin.unsqueeze(1)) & (place < (begin + width).unsqueeze(1));
}

}  // namespace

void SoundAugmentOptions::describe(OptionList& list) {
  list.add("tempo", tempo, "training: utterances are up to this share faster or slower")
      .within(0, 0.5);
  list.add("warp", warp, "training: pitches are up to this share higher or lower").within(0, 0.5);
  list.add(
          "colour", colour,
          "training: bands are louder or softer along a curve of four waves, each of up to so many "
          "deviations")
      .within(0, 10);
  list.add("time_masks", time_masks, "training: stretches of frames that are hidden")
      .within(0, 100);
  list.add("time_mask", time_mask, "most frames of such a stretch; at most a fifth of the sound")
      .at_least(0);
  list.add("band_masks", band_masks, "training: stretches of bands that are hidden").within(0, 100);
  list.add("band_mask", band_mask, "most bands of such a stretch").at_least(0);
}

AugmentedFrames augment_frames(const Tensor& frames, const Tensor& keep,
                               std::span<const double> pitches, const SoundAugmentOptions& options,
                               const Random& random) {
  const auto bands = int64_t(pitches.size());
  AugmentedFrames result{frames, keep};
  Tensor lengths = keep.sum(1).to(frames.scalar_type());  // [B]
  if (options.tempo > 0) {
    const Tensor speed = draw(random.split("tempo"), 1 - options.tempo, 1 + options.tempo, frames);
    result = at_tempo(frames, lengths, speed, bands);
    lengths = result.keep.sum(1).to(frames.scalar_type());
  }
  Tensor& x = result.frames;
  if (options.warp > 0)
    x = warped(x, draw(random.split("warp"), 1 - options.warp, 1 + options.warp, frames), pitches);
  if (options.colour > 0) {
    Tensor gain = curve(random.split("colour"), options.colour, bands, frames);  // [B, M]
    x = x + at::constant_pad_nd(gain, {0, x.size(2) - bands}).unsqueeze(1);      // slopes stay
  }
  for (int64_t mask = 0; mask < options.time_masks; ++mask) {
    const Tensor widest = (lengths * kMostMasked).floor().clamp_max(double(options.time_mask));
    const Tensor hidden = stretch_of(random.split("time mask").split(uint64_t(mask)), widest,
                                     lengths, x.size(1), frames);  // [B, S']
    x = x.masked_fill(hidden.unsqueeze(2), 0);
  }
  for (int64_t mask = 0; mask < options.band_masks; ++mask) {
    const Tensor all = at::full_like(lengths, double(bands));
    const Tensor hidden =
        stretch_of(random.split("band mask").split(uint64_t(mask)),
                   all.clamp_max(double(options.band_mask)), all, bands, frames);  // [B, M]
    x = x.masked_fill(hidden.repeat({1, x.size(2) / bands}).unsqueeze(1), 0);
  }
  return result;
}

}  // namespace fovea
