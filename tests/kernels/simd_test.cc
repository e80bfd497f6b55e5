// The functions of simd.h against the C library, with the narrowest vectors, which every
// machine has. What the wider ones compute is held to it by the tests of the kernels.
#include "fovea/kernels/simd.h"

#include <limits>

#include "tests/kernels/testing.h"

namespace fovea::kernels::simd_test {
namespace {

/// Distance from the exact value in units of the last place of a float.
double error_in_ulps(float found, double exact) {
  const auto rounded = static_cast<float>(std::abs(exact));
  const double unit =
      static_cast<double>(std::nextafter(rounded, std::numeric_limits<float>::infinity())) -
      static_cast<double>(rounded);
  return std::abs(static_cast<double>(found) - exact) / unit;
}

TEST(Simd, ExponentialIsAccurateOverItsWholeRange) {
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const auto x = static_cast<float>(-87.0 + 175.0 * i / 400000);
    worst = std::max(worst, error_in_ulps(exp(broadcast(x))[1], std::exp(double(x))));
  }
  EXPECT_LT(worst, 2.5);
}

TEST(Simd, ExponentialIsZeroFarBelowAndFiniteFarAbove) {
  EXPECT_EQ(exp(broadcast(0.0f))[0], 1.0f);
  for (const float x : {-87.001f, -88.0f, -150.0f, -1e30f, -INFINITY})
    EXPECT_EQ(exp(broadcast(x))[2], 0.0f) << x;
  for (const float x : {88.0f, 89.0f, 1e30f, INFINITY}) {
    EXPECT_TRUE(std::isfinite(exp(broadcast(x))[3])) << x;
    EXPECT_GT(exp(broadcast(x))[3], 1e38f) << x;
  }
}

TEST(Simd, NanStaysNan) {
  EXPECT_TRUE(std::isnan(exp(broadcast(NAN))[0]));
  EXPECT_TRUE(std::isnan(log(broadcast(NAN))[0]));
}

TEST(Simd, LogarithmIsAccurateForEveryPositiveNormalNumber) {
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const auto x = static_cast<float>(std::exp(-87.0 + 175.0 * i / 400000));
    // Near 1 the result is small and an absolute bound is the right one.
    const double exact = std::log(double(x)), found = double(log(broadcast(x))[1]);
    worst = std::max(worst, std::abs(found - exact) / std::max(1.0, std::abs(exact)));
  }
  EXPECT_LT(worst, 1.3e-7);
  EXPECT_EQ(log(broadcast(1.0f))[0], 0.0f);
}

TEST(Simd, EachLaneStandsForItself) {
  const Lanes x{-1, 0, 1, 2};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(exp(x)[i], std::exp(x[i]), 1e-6);
    EXPECT_EQ(max(x, broadcast(0.5f))[i], std::max(x[i], 0.5f));
    EXPECT_EQ(min(x, broadcast(0.5f))[i], std::min(x[i], 0.5f));
  }
  EXPECT_EQ(sum(x), 2.0f);
  float memory[6] = {9, 1, 2, 3, 4, 9};
  store(memory + 1, load(memory + 1) + broadcast(1.0f));
  const float expected[6] = {9, 2, 3, 4, 5, 9};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(memory[i], expected[i]);
}

template <class T>
T power_of(T x) {
  return exp2(broadcast(x))[0];
}

TEST(Simd, PowerOfTwoIsAccurate) {
  double worst = 0, worst_double = 0;
  for (double x = -120; x <= 0; x += 0.000517) {
    const float f = static_cast<float>(x);
    const double exact = std::exp2(static_cast<double>(f));
    worst = std::max(worst, std::abs(double(power_of(f)) / exact - 1));
    worst_double = std::max(worst_double, std::abs(power_of(x) / std::exp2(x) - 1));
  }
  EXPECT_LT(worst, 1.2e-7);
  EXPECT_LT(worst_double, 3e-16);
}

TEST(Simd, PowerOfTwoAtTheEnds) {
  EXPECT_EQ(power_of(0.0f), 1.0f);
  EXPECT_EQ(power_of(0.0), 1.0);
  EXPECT_EQ(power_of(-127.0f), 0.0f);
  EXPECT_EQ(power_of(-1e30f), 0.0f);
  EXPECT_EQ(power_of(-INFINITY), 0.0f);
  EXPECT_EQ(power_of(-double(INFINITY)), 0.0);
  EXPECT_TRUE(std::isnan(power_of(NAN)));
  EXPECT_TRUE(std::isnan(power_of(double(NAN))));
}

TEST(Simd, AnySeesEveryLane) {
  EXPECT_FALSE(any(Lanes{} != Lanes{}));
  for (int64_t i = 0; i < kLanes; ++i) {
    Lanes lanes{};
    lanes[i] = 1;
    EXPECT_TRUE(any(lanes != Lanes{}));
  }
}

template <class T>
void expect_transposed() {
  constexpr int64_t kRows = 12, kColumns = 8, kFrom = 11, kTo = 14;
  std::vector<T> from(kRows * kFrom), to(kColumns * kTo, T(-1));
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i);
  transpose<T>(from.data(), kFrom, kRows, kColumns, to.data(), kTo, T(2));
  for (int64_t j = 0; j < kColumns; ++j)
    for (int64_t i = 0; i < kTo; ++i)
      EXPECT_EQ(to[size_t(j * kTo + i)], i < kRows ? 2 * from[size_t(i * kFrom + j)] : T(-1));
}

TEST(Simd, Transpose) {
  expect_transposed<float>();
  expect_transposed<double>();
}

}  // namespace
}  // namespace fovea::kernels::simd_test
