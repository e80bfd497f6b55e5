#include "fovea/metrics/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "fovea/base/error.h"
#include "tests/metrics/golden.h"

namespace fovea::statistics_test {
namespace {

TEST(Statistics, SummaryMatchesReference) {
  const Json expected = golden("statistics");
  const auto values = expected["values"].get<std::vector<double>>();
  const Summary summary = summarize(values);
  EXPECT_EQ(summary.count, static_cast<int64_t>(values.size()));
  EXPECT_NEAR(summary.mean, expected["mean"].get<double>(), 1e-12);
  EXPECT_NEAR(summary.median, expected["median"].get<double>(), 1e-12);
  EXPECT_NEAR(summary.deviation.value(), expected["deviation"].get<double>(), 1e-12);
  EXPECT_NEAR(summary.minimum, expected["minimum"].get<double>(), 0);
  EXPECT_NEAR(summary.maximum, expected["maximum"].get<double>(), 0);
  EXPECT_NEAR(summary.interval.value(), expected["interval"].get<double>(), 1e-9);
}

TEST(Statistics, StudentQuantilesMatchReferenceAndTables) {
  for (const Json& row : golden("student_t")) {
    EXPECT_NEAR(student_t_quantile(row["probability"], row["degrees"]),
                row["quantile"].get<double>(), 1e-8);
  }
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062047, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 4), 2.7764451, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), 1.9599640, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.025, 4), -2.7764451, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.5, 3), 0, 1e-12);
}

TEST(Statistics, OneValueHasNoSpread) {
  const Summary summary = summarize(std::vector<double>{0.25});
  EXPECT_DOUBLE_EQ(summary.mean, 0.25);
  EXPECT_DOUBLE_EQ(summary.median, 0.25);
  EXPECT_FALSE(summary.deviation.has_value());
  EXPECT_FALSE(summary.interval.has_value());
}

TEST(Statistics, EqualValuesHaveNoWidth) {
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>(5, 0.1)).interval.value(), 0);
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>{1, 2, 3, 10}).median, 2.5);
}

TEST(Statistics, RefusesNothingAndNaN) {
  EXPECT_THROW(summarize({}), Error);
  EXPECT_THROW(summarize(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()}), Error);
  EXPECT_THROW(student_t_quantile(1, 3), Error);
  EXPECT_THROW(student_t_quantile(0.9, 0), Error);
}

TEST(Statistics, RunningStatisticsKeepPrecision) {
  RunningStatistics moments;
  for (const double value : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) moments.add(value);
  EXPECT_DOUBLE_EQ(moments.mean(), 1e9 + 10);
  EXPECT_NEAR(moments.deviation(), std::sqrt(30.0), 1e-9);
}

}  // namespace
}  // namespace fovea::statistics_test
