#include "fovea/metrics/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/tensor/random.h"
#include "tests/support/expect_error.h"

namespace fovea::intervals_test {
namespace {

TEST(Intervals, WilsonAsScipyHasIt) {
  // binomtest(7, 10).proportion_ci(0.95, "wilson")
  const Interval ten = wilson_interval(0.7, 10), all = wilson_interval(1, 20);
  EXPECT_NEAR(ten.low, 0.39677814746114526, 1e-12);
  EXPECT_NEAR(ten.high, 0.892208732593699, 1e-12);
  EXPECT_NEAR(all.low, 0.8388748419471808, 1e-12);
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR(wilson_interval(0, 20).high, 1 - all.low, 1e-12);
  testing::expect_error(ErrorKind::InvalidArgument, {"at least"}, [] { wilson_interval(0.5, 0); });
}

/// The share of ones.
ResampledMetric mean_of(const std::vector<double>& values) {
  return [&values](std::span<const double> times) -> std::optional<double> {
    double sum = 0, count = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += times[i] * values[i], count += times[i];
    return sum / count;
  };
}

TEST(Intervals, BootstrapOfAMeanIsThatOfTheory) {
  const Random random(3);
  std::vector<double> values(1000);
  double mean = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) mean += values[i] = random.normal(i);
  mean /= 1000;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = 1.96 * std::sqrt(squares / 999 / 1000);
  const Interval found = *bootstrap_interval(1000, mean_of(values));
  EXPECT_NEAR(found.low, mean - half, 0.1 * half);
  EXPECT_NEAR(found.high, mean + half, 0.1 * half);
  const Interval again = *bootstrap_interval(1000, mean_of(values));
  EXPECT_EQ(found.low, again.low) << "deterministic";
  EXPECT_EQ(found.high, again.high);
}

TEST(Intervals, EveryResampleHasAsManyRows) {
  bootstrap_interval(11, [](std::span<const double> times) -> std::optional<double> {
    double rows = 0;
    for (const double count : times) rows += count;
    EXPECT_EQ(rows, 11);
    return 0.0;
  });
}

TEST(Intervals, SumsOfRowsGiveWhatTheRowsGive) {
  const Random random(4);
  SummedMetric rate;
  for (uint64_t i = 0; i < 300; ++i)
    rate.rows.push_back({std::floor(5 * random.uniform(2 * i)), 5 + 5 * random.uniform(2 * i + 1)});
  const Interval found = *bootstrap_interval(rate);
  const Interval wanted =
      *bootstrap_interval(300, [&](std::span<const double> times) -> std::optional<double> {
        double errors = 0, lengths = 0;
        for (size_t i = 0; i < rate.rows.size(); ++i)
          errors += times[i] * rate.rows[i][0], lengths += times[i] * rate.rows[i][1];
        return errors / lengths;
      });
  EXPECT_EQ(found.low, wanted.low);
  EXPECT_EQ(found.high, wanted.high);
  EXPECT_FALSE(bootstrap_interval(SummedMetric{}));
  EXPECT_FALSE(bootstrap_interval(SummedMetric{{{1, 0}, {1, 0}, {1, 0}}})) << "0 symbols";
}

TEST(Intervals, BlocksOfLikeRowsAreWider) {
  const Random random(5);
  SummedMetric share;  // every ten rows in a row are alike
  for (uint64_t i = 0; i < 1000; ++i)
    share.rows.push_back({random.uniform(i / 10) < 0.5 ? 1.0 : 0.0, 1});
  const SummedMetric blocks = share.in_blocks(10);
  ASSERT_EQ(blocks.rows.size(), 100u);
  EXPECT_EQ(blocks.rows[7], (std::vector<double>{10 * share.rows[70][0], 10}));
  EXPECT_EQ(share.in_blocks(300).rows.size(), 4u);
  EXPECT_EQ(share.in_blocks(300).rows[3][1], 100) << "the last one is shorter";
  const double alone = bootstrap_interval(share)->half(),
               joined = bootstrap_interval(blocks)->half();
  EXPECT_NEAR(joined / alone, std::sqrt(10), 0.5);
}

TEST(Intervals, NothingWhereMostResamplesHaveNoValue) {
  EXPECT_FALSE(bootstrap_interval(1, [](auto) { return std::optional<double>(1); }));
  EXPECT_FALSE(bootstrap_interval(9, [](auto) { return std::optional<double>(); }));
}

}  // namespace
}  // namespace fovea::intervals_test
