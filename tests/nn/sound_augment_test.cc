#include "fovea/nn/audio/sound_augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fovea/tensor/torch.h"
#include "tests/support/golden.h"

namespace fovea::sound_augment_test {
namespace {

using testing::largest_difference;

constexpr int64_t kBands = 8, kWidth = 24;
const std::vector<double> kPitches = {100, 200, 300, 400, 500, 600, 700, 800};

at::Tensor frames(int64_t rows, int64_t length) {
  return Random(2).normal_tensor({rows, length, kWidth}, 5, 1, at::kFloat);
}

at::Tensor all(int64_t rows, int64_t length) {
  return torch::ones({rows, length}, at::kBool);
}

TEST(SoundAugment, NothingAskedNothingChanged) {
  const at::Tensor x = frames(3, 20), keep = all(3, 20);
  const AugmentedFrames same = augment_frames(x, keep, kPitches, {}, Random(1));
  EXPECT_TRUE(same.frames.equal(x));
  EXPECT_TRUE(same.keep.equal(keep));
}

TEST(SoundAugment, TheStreamAloneDecides) {
  SoundAugmentOptions options;
  options.tempo = 0.2;
  options.warp = 0.1;
  options.time_masks = options.band_masks = 1;
  const at::Tensor x = frames(3, 40), keep = all(3, 40);
  const auto run = [&](uint64_t seed) {
    return augment_frames(x, keep, kPitches, options, Random(seed));
  };
  EXPECT_TRUE(run(1).frames.equal(run(1).frames));
  const AugmentedFrames other = run(2);
  EXPECT_FALSE(other.frames.sizes() == run(1).frames.sizes() && other.frames.equal(run(1).frames));
  EXPECT_TRUE(other.frames.isfinite().all().item<bool>());
  EXPECT_EQ(other.frames.size(1), other.keep.size(1));
}

TEST(SoundAugment, ATempoStretchesTheSoundAndItsSlopes) {
  // Bands that rise by 1 a frame, slopes of 1: at another tempo they still belong to each other.
  at::Tensor x = torch::ones({20, 60, kWidth});
  x.narrow(2, 0, kBands).copy_(torch::arange(60, at::kFloat).view({1, 60, 1}).expand({20, 60, 8}));
  at::Tensor keep = all(20, 60);
  keep[7].narrow(0, 30, 30).fill_(false);
  SoundAugmentOptions options;
  options.tempo = 0.25;
  const AugmentedFrames found = augment_frames(x, keep, kPitches, options, Random(3));
  const at::Tensor lengths = found.keep.sum(1);
  EXPECT_GT(lengths.max().item<int64_t>(), 62);
  EXPECT_LT(lengths.min().item<int64_t>(), 40);
  for (int64_t row = 0; row < 20; ++row) {
    const int64_t length = lengths[row].item<int64_t>();
    const at::Tensor own = found.frames[row].narrow(0, 0, length);
    const double speed = own[0][kBands].item<double>();  // what became of a slope of 1
    EXPECT_NEAR(double(length), (row == 7 ? 30 : 60) / speed, 1);
    EXPECT_NEAR((own[5][0] - own[4][0]).item<double>(), speed, 1e-4);
    EXPECT_NEAR(own[5][2 * kBands].item<double>(), speed * speed, 1e-4);
    EXPECT_EQ(
        found.frames[row].narrow(0, length, found.frames.size(1) - length).sum().item<float>(), 0);
  }
}

TEST(SoundAugment, AWarpMultipliesPitches) {
  at::Tensor x = torch::zeros({10, 3, kWidth});
  const at::Tensor hertz = torch::tensor(kPitches, at::kFloat);
  x.copy_(hertz.repeat({3}));  // every band holds its pitch
  SoundAugmentOptions options;
  options.warp = 0.3;
  const at::Tensor found = augment_frames(x, all(10, 3), kPitches, options, Random(4)).frames;
  double lowest = 1, highest = 1;
  for (int64_t row = 0; row < 10; ++row) {
    const double stretch = found[row][0][2].item<double>() / 300;
    lowest = std::min(lowest, stretch);
    highest = std::max(highest, stretch);
    for (int64_t band = 0; band < kBands; ++band)
      for (int64_t block = 0; block < 3; ++block)
        EXPECT_NEAR(found[row][1][block * kBands + band].item<double>(),
                    std::clamp(kPitches[size_t(band)] * stretch, 100.0, 800.0), 1e-2);
  }
  EXPECT_GE(lowest, 0.7);
  EXPECT_LT(lowest, 0.9);
  EXPECT_GT(highest, 1.1);
  EXPECT_LE(highest, 1.3);
}

TEST(SoundAugment, ColourIsTheSameAllTheTimeAndLeavesSlopes) {
  SoundAugmentOptions options;
  options.colour = 0.5;
  const at::Tensor x = frames(20, 5);
  const at::Tensor change = augment_frames(x, all(20, 5), kPitches, options, Random(6)).frames - x;
  const at::Tensor curve = change.select(1, 0).narrow(1, 0, kBands);  // [B, M]
  EXPECT_LT(largest_difference(change.select(1, 4).narrow(1, 0, kBands), curve), 1e-5);
  EXPECT_EQ(change.narrow(2, kBands, 2 * kBands).abs().sum().item<float>(), 0);
  EXPECT_LE(curve.abs().max().item<float>(), 2);
  EXPECT_GT(curve.abs().max().item<float>(), 0.5);
  EXPECT_GT(curve.std(1).min().item<float>(), 0) << "not a volume alone";
}

TEST(SoundAugment, MasksHideStretches) {
  SoundAugmentOptions options;
  options.time_masks = 1;
  options.time_mask = 6;
  const at::Tensor x = frames(50, 40);
  const at::Tensor hidden =
      augment_frames(x, all(50, 40), kPitches, options, Random(5)).frames == 0;
  const at::Tensor silent = hidden.all(2);  // [B, S]
  EXPECT_TRUE(hidden.any(2).equal(silent)) << "whole frames";
  EXPECT_LE(silent.sum(1).max().item<int64_t>(), 6);
  EXPECT_GT(silent.sum().item<int64_t>(), 50);

  options = {};
  options.band_masks = 1;
  options.band_mask = 3;
  const at::Tensor masked =
      augment_frames(x, all(50, 40), kPitches, options, Random(5)).frames == 0;
  const at::Tensor bands = masked.all(1);  // [B, F]
  EXPECT_TRUE(masked.any(1).equal(bands)) << "all the time";
  EXPECT_TRUE(bands.narrow(1, 0, kBands).equal(bands.narrow(1, 2 * kBands, kBands)));
  EXPECT_LE(bands.narrow(1, 0, kBands).sum(1).max().item<int64_t>(), 3);
  EXPECT_GT(bands.sum().item<int64_t>(), 50);
}

}  // namespace
}  // namespace fovea::sound_augment_test
