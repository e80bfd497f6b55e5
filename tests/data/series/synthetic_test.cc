#include "fovea/data/series/synthetic.h"

#include <cmath>

#include "fovea/data/series/column.h"
#include "tests/data/testing.h"

namespace fovea::series::synthetic_test {
namespace {

using Names = std::vector<std::string>;

/// All steps of the series, one split after the other.
std::vector<double> series(const SyntheticTables& drawn, const std::string& name) {
  const SourceTables tables = parse_tables(drawn);
  std::vector<double> values;
  for (int split = 0; split < kSplitCount; ++split) {
    const std::vector<double> own = read_series(*tables[split], name);
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b, size_t delay) {
  double sum = 0;
  for (size_t i = delay; i < b.size(); ++i) sum += a[i - delay] * b[i];
  return sum / double(b.size() - delay);
}

TEST(SyntheticSeries, TheOutputIsTheInputOfLagStepsAgo) {
  const SyntheticTables drawn = draw_series({});
  EXPECT_TRUE(drawn.files[kTrain].starts_with("x,y\n"));
  EXPECT_EQ(drawn.description["input_columns"], Names{"x"});
  const std::vector<double> x = series(drawn, "x"), y = series(drawn, "y");
  ASSERT_EQ(x.size(), 10000u);
  ASSERT_EQ(y.size(), 10000u);
  for (size_t step = 12; step < y.size(); ++step) ASSERT_EQ(y[step], x[step - 12]);
  EXPECT_NEAR(mean_product(x, x, 0), 1, 0.05);
  // White noise: no other step says anything.
  for (const size_t delay : {1, 2, 6, 11, 13, 24})
    EXPECT_NEAR(mean_product(x, y, delay), 0, 0.05) << delay;
}

TEST(SyntheticSeries, CorrelationNoiseAndDistractors) {
  SyntheticSeriesOptions options;
  const SyntheticTables plain = draw_series(options);
  options.distractors = 2;
  options.noise = 0.5;
  const SyntheticTables more = draw_series(options);
  EXPECT_TRUE(more.files[kTrain].starts_with("x,n0,n1,y\n"));
  EXPECT_EQ(more.description["input_columns"], (Names{"x", "n0", "n1"}));
  EXPECT_EQ(series(more, "x"), series(plain, "x"));
  EXPECT_NEAR(mean_product(series(more, "n0"), series(more, "n1"), 0), 0, 0.05);
  EXPECT_NEAR(mean_product(series(more, "n0"), series(more, "y"), 12), 0, 0.05);
  EXPECT_NEAR(mean_product(series(more, "y"), series(more, "y"), 0), 1.25, 0.06);
  options.correlation = 0.8;
  const std::vector<double> smooth = series(draw_series(options), "x");
  EXPECT_NEAR(mean_product(smooth, smooth, 0), 1, 0.15);
  EXPECT_NEAR(mean_product(smooth, smooth, 1), 0.8, 0.15);
  options.seed = 2;
  EXPECT_NE(series(draw_series(options), "x"), smooth);
}

TEST(SyntheticSeries, TextOfAFewDigitsGivesTheValuesBack) {
  SyntheticSeriesOptions options;
  options.rows = 500;
  options.noise = 0.1;
  const SyntheticTables drawn = draw_series(options);
  for (const char* name : {"x", "y"})
    for (const double value : series(drawn, name)) {
      ASSERT_EQ(std::round(value * 1e6) / 1e6, value) << "whole millionths";
      ASSERT_LE(format_exact(value).size(), 9u);  // -1.234567
    }
}

TEST(SyntheticSeries, Positions) {
  EXPECT_EQ(lagged_positions(12, 24, 6), (std::vector<int64_t>{12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(lagged_positions(4, 4, 3), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(lagged_positions(2, 4, 3), (std::vector<int64_t>{2, 3, -1}));  // 3 steps ahead: unseen
  EXPECT_EQ(lagged_positions(5, 4, 3), (std::vector<int64_t>{-1, 0, 1}));
}

TEST(SyntheticSeries, ImpossibleOptions) {
  const auto refused = [](const char* words, auto change) {
    SyntheticSeriesOptions options;
    change(options);
    expect_error(ErrorKind::InvalidArgument, words, [&] { draw_series(options); });
  };
  refused("lag 0", [](SyntheticSeriesOptions& options) { options.lag = 0; });
  refused("correlation 1", [](SyntheticSeriesOptions& options) { options.correlation = 1; });
  refused("at least 2", [](SyntheticSeriesOptions& options) { options.rows = 1; });
  refused("numbers",
          [](SyntheticSeriesOptions& options) { options.distractors = int64_t{1} << 30; });
}

}  // namespace
}  // namespace fovea::series::synthetic_test
