#include "fovea/data/speech/log_mel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"
#include "tests/support/golden.h"

namespace fovea::log_mel_test {
namespace {

using testing::golden;
using testing::largest_difference;

LogMelOptions golden_options() {
  LogMelOptions options;
  options.bands = 12;
  options.lowest = 100;
  options.highest = 3800;
  return options;
}

at::Tensor unpacked(const Json& json) {
  return testing::tensor_of(json.at("data"), at::kDouble)
      .view(json.at("shape").get<std::vector<int64_t>>());
}

TEST(LogMel, EqualsItsFormulas) {
  const Json reference = golden("speech")["features"];
  const std::vector<int16_t> samples = reference["samples"];
  const LogMelOptions options = golden_options();
  EXPECT_LT(largest_difference(mel_filters(options), unpacked(reference["filters"])), 1e-6);
  const at::Tensor bands = LogMel(options)(samples);
  ASSERT_EQ(bands.size(0), frames_of(int64_t(samples.size()), options));
  EXPECT_LT(largest_difference(bands, unpacked(reference["log_mel"])), 1e-3);
  EXPECT_LT(largest_difference(with_deltas(bands, 2), unpacked(reference["with_deltas"])), 1e-3);
}

TEST(LogMel, SilenceAndASingleSampleAreFinite) {
  const LogMel log_mel{LogMelOptions()};
  const at::Tensor silence = log_mel(std::vector<int16_t>(500, 0));
  EXPECT_EQ(silence.sizes(), (std::vector<int64_t>{7, 40}));
  EXPECT_LT(largest_difference(silence, torch::full_like(silence, std::log(1e-8))), 1e-4);
  const at::Tensor single = log_mel(std::vector<int16_t>{1000});
  EXPECT_EQ(single.sizes(), (std::vector<int64_t>{1, 40}));
  EXPECT_TRUE(single.isfinite().all().item<bool>());
  EXPECT_EQ(with_deltas(single, 2).sizes(), (std::vector<int64_t>{1, 120}));
  EXPECT_EQ(with_deltas(single, 2).narrow(1, 40, 80).abs().sum().item<float>(), 0);
}

TEST(LogMel, WhatIsMuchSofterThanTheLoudestCountsAsThatSoft) {
  std::vector<int16_t> samples(1600, 0);
  for (size_t i = 0; i < 800; ++i) samples[i] = int16_t(9000 * std::sin(0.8 * double(i)));
  LogMelOptions options;
  const at::Tensor all = LogMel(options)(samples);
  options.range = 30;
  const at::Tensor heard = LogMel(options)(samples);
  const double floor = all.max().item<double>() - 3 * std::log(10.0);
  EXPECT_LT(all.min().item<double>(), floor - 5);
  EXPECT_LT(largest_difference(heard, all.clamp_min(floor)), 1e-4);
}

TEST(LogMel, AFrameSeesTheMiddleOfItsOwnSamples) {
  std::vector<int16_t> samples(800, 0);
  samples[440] = 20000;  // the middle of frame 5, 400 … 479
  const at::Tensor loudness = LogMel(LogMelOptions())(samples).sum(1);  // [10]
  EXPECT_EQ(loudness.argmax().item<int64_t>(), 5);
  EXPECT_NEAR(loudness[4].item<double>(), loudness[6].item<double>(), 1e-2);
}

TEST(LogMel, WhatCannotWorkIsRefused) {
  LogMelOptions high;
  high.highest = 5000;
  expect_error(ErrorKind::InvalidArgument, "data.highest=5000", [&] { LogMel{high}; });
  LogMelOptions many;
  many.bands = 300;
  expect_error(ErrorKind::InvalidArgument, "fewer bands", [&] { LogMel{many}; });
  LogMelOptions sparse;
  sparse.step = 0.1;
  expect_error(ErrorKind::InvalidArgument, "data.step", [&] { LogMel{sparse}; });
  expect_error(ErrorKind::BadData, "without samples",
               [] { LogMel{LogMelOptions()}(std::vector<int16_t>{}); });
}

}  // namespace
}  // namespace fovea::log_mel_test
