#include "fovea/data/formats/read_sound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/data/testing.h"

namespace fovea::resample_test {
namespace {

std::vector<float> tone(double hertz, int64_t rate, size_t count) {
  std::vector<float> samples;
  for (size_t i = 0; i < count; ++i)
    samples.push_back(float(std::sin(2 * std::numbers::pi * hertz * double(i) / double(rate))));
  return samples;
}

/// The largest difference away from the ends, where the sound begins from nothing.
double difference(const std::vector<float>& left, const std::vector<float>& right, size_t border) {
  double worst = 0;
  for (size_t i = border; i + border < left.size(); ++i)
    worst = std::max(worst, std::abs(double(left[i]) - double(right[i])));
  return worst;
}

TEST(Resample, ToneStaysTheSameTone) {
  for (const auto& [from, to] : std::vector<std::pair<int64_t, int64_t>>{
           {48000, 8000}, {44100, 8000}, {8000, 16000}, {22050, 16000}, {8000, 44100}}) {
    SCOPED_TRACE(concat(from, " to ", to));
    const auto found = resample(tone(440, from, size_t(from) / 4), from, to);
    ASSERT_EQ(found.size(), size_t((from / 4 * to + from - 1) / from));
    EXPECT_LT(difference(found, tone(440, to, found.size()), size_t(to) / 50), 1e-3);
  }
}

TEST(Resample, WhatTheNewRateCannotHoldIsGone) {
  const auto found = resample(tone(5000, 48000, 12000), 48000, 8000);
  EXPECT_LT(difference(found, std::vector<float>(found.size(), 0), 160), 1e-3);
}

TEST(Resample, AConstantStaysOne) {
  const auto found = resample(std::vector<float>(3000, 0.25f), 44100, 8000);
  EXPECT_LT(difference(found, std::vector<float>(found.size(), 0.25f), 100), 1e-5);
}

TEST(Resample, FewSamplesAndEqualRates) {
  EXPECT_EQ(resample(std::vector<float>{0.5f}, 8000, 8000), std::vector<float>{0.5f});
  EXPECT_EQ(resample(std::vector<float>{0.5f}, 48000, 8000).size(), 1u);
  EXPECT_EQ(resample(std::vector<float>{0.5f, 0.25f}, 8000, 16000).size(), 4u);
  EXPECT_TRUE(resample(std::vector<float>{}, 48000, 8000).empty());
  expect_error(ErrorKind::InvalidArgument, "0 samples a second",
               [] { resample(std::vector<float>{1}, 0, 8000); });
}

}  // namespace
}  // namespace fovea::resample_test
