// The approximations of lanes-inl.h against the C library, with the narrowest vectors, which every
// machine has. What the wider ones compute is held to it by the tests of the kernels.
#define FOVEA_LANES 4
#include "fovea/kernels/lanes-inl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

/// Distance from the exact value in units of the last place of a float.
double error_in_ulps(float found, double exact) {
  const auto rounded = static_cast<float>(std::abs(exact));
  const double unit =
      static_cast<double>(std::nextafter(rounded, std::numeric_limits<float>::infinity())) -
      static_cast<double>(rounded);
  return std::abs(static_cast<double>(found) - exact) / unit;
}

TEST(Lanes, ExponentialIsAccurateOverItsWholeRange) {
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const auto x = static_cast<float>(-87.0 + 175.0 * i / 400000);
    worst = std::max(worst, error_in_ulps(exponential(all(x))[1], std::exp(double(x))));
  }
  EXPECT_LT(worst, 2.5);
}

TEST(Lanes, ExponentialIsZeroFarBelowAndFiniteFarAbove) {
  EXPECT_EQ(exponential(all(0.0f))[0], 1.0f);
  for (const float x : {-87.001f, -88.0f, -150.0f, -1e30f, -INFINITY})
    EXPECT_EQ(exponential(all(x))[2], 0.0f) << x;
  for (const float x : {88.0f, 89.0f, 1e30f, INFINITY}) {
    EXPECT_TRUE(std::isfinite(exponential(all(x))[3])) << x;
    EXPECT_GT(exponential(all(x))[3], 1e38f) << x;
  }
}

TEST(Lanes, NanStaysNan) {
  EXPECT_TRUE(std::isnan(exponential(all(NAN))[0]));
  EXPECT_TRUE(std::isnan(logarithm(all(NAN))[0]));
}

TEST(Lanes, LogarithmIsAccurateForEveryPositiveNormalNumber) {
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const auto x = static_cast<float>(std::exp(-87.0 + 175.0 * i / 400000));
    // Near 1 the result is small and an absolute bound is the right one.
    const double exact = std::log(double(x)), found = double(logarithm(all(x))[1]);
    worst = std::max(worst, std::abs(found - exact) / std::max(1.0, std::abs(exact)));
  }
  EXPECT_LT(worst, 1.3e-7);
  EXPECT_EQ(logarithm(all(1.0f))[0], 0.0f);
}

TEST(Lanes, EachLaneStandsForItself) {
  const Lanes x{-1, 0, 1, 2};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(exponential(x)[i], std::exp(x[i]), 1e-6);
    EXPECT_EQ(larger(x, all(0.5f))[i], std::max(x[i], 0.5f));
    EXPECT_EQ(smaller(x, all(0.5f))[i], std::min(x[i], 0.5f));
  }
  EXPECT_EQ(sum(x), 2.0f);
  float memory[6] = {9, 1, 2, 3, 4, 9};
  store(memory + 1, load(memory + 1) + all(1.0f));
  const float expected[6] = {9, 2, 3, 4, 5, 9};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(memory[i], expected[i]);
}

}  // namespace
