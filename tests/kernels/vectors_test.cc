#define FOVEA_LANES 4
#include "fovea/kernels/vectors-inl.h"

#include "tests/kernels/testing.h"

namespace fovea::kernels {
namespace {

template <class T>
T power_of(T x) {
  return power_of_two(all(x))[0];
}

TEST(Vectors, PowerOfTwoIsAccurate) {
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

TEST(Vectors, PowerOfTwoAtTheEnds) {
  EXPECT_EQ(power_of(0.0f), 1.0f);
  EXPECT_EQ(power_of(0.0), 1.0);
  EXPECT_EQ(power_of(-127.0f), 0.0f);
  EXPECT_EQ(power_of(-1e30f), 0.0f);
  EXPECT_EQ(power_of(-INFINITY), 0.0f);
  EXPECT_EQ(power_of(-double(INFINITY)), 0.0);
  EXPECT_TRUE(std::isnan(power_of(NAN)));
  EXPECT_TRUE(std::isnan(power_of(double(NAN))));
}

TEST(Vectors, AnySeesEveryLane) {
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

TEST(Vectors, Transpose) {
  expect_transposed<float>();
  expect_transposed<double>();
}

}  // namespace
}  // namespace fovea::kernels
