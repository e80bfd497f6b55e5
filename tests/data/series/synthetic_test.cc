#include "fovea/data/series/synthetic.h"

#include <cmath>

#include "tests/data/testing.h"

namespace fovea {
namespace {

double mean_product(const std::vector<double>& a, const std::vector<double>& b, size_t delay) {
  double sum = 0;
  for (size_t i = delay; i < b.size(); ++i) sum += a[i - delay] * b[i];
  return sum / double(b.size() - delay);
}

TEST(LagGenerator, TheOutputIsTheInputOfLagStepsAgo) {
  const LagDraw draw = draw_lag({});
  EXPECT_EQ(draw.series.columns, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(draw.inputs, std::vector<std::string>{"x"});
  const std::vector<double>&x = draw.series.values[0], &y = draw.series.values[1];
  ASSERT_EQ(x.size(), 10000u);
  ASSERT_EQ(y.size(), 10000u);
  for (size_t step = 12; step < y.size(); ++step) ASSERT_EQ(y[step], x[step - 12]);
  EXPECT_NEAR(mean_product(x, x, 0), 1, 0.05);
  // White noise: no other step says anything.
  for (const size_t delay : {1, 2, 6, 11, 13, 24})
    EXPECT_NEAR(mean_product(x, y, delay), 0, 0.05) << delay;
}

TEST(LagGenerator, CorrelationNoiseAndDistractors) {
  LagOptions options;
  const LagDraw plain = draw_lag(options);
  options.distractors = 2;
  options.noise = 0.5;
  const LagDraw more = draw_lag(options);
  EXPECT_EQ(more.series.columns, (std::vector<std::string>{"x", "n0", "n1", "y"}));
  EXPECT_EQ(more.inputs, (std::vector<std::string>{"x", "n0", "n1"}));
  EXPECT_EQ(more.series.values[0], plain.series.values[0]);
  EXPECT_NEAR(mean_product(more.series.values[1], more.series.values[2], 0), 0, 0.05);
  EXPECT_NEAR(mean_product(more.series.values[1], more.series.values[3], 12), 0, 0.05);
  EXPECT_NEAR(mean_product(more.series.values[3], more.series.values[3], 0), 1.25, 0.06);
  options.correlation = 0.8;
  const std::vector<double> smooth = draw_lag(options).series.values[0];
  EXPECT_NEAR(mean_product(smooth, smooth, 0), 1, 0.15);
  EXPECT_NEAR(mean_product(smooth, smooth, 1), 0.8, 0.15);
  options.seed = 2;
  EXPECT_NE(draw_lag(options).series.values[0], smooth);
}

TEST(LagGenerator, TextOfAFewDigitsGivesTheValuesBack) {
  LagOptions options;
  options.rows = 500;
  options.noise = 0.1;
  for (const std::vector<double>& values : draw_lag(options).series.values)
    for (const double value : values) {
      const std::string text = format_exact(value);
      double again = 0;
      ASSERT_TRUE(parse_number(text, again));
      ASSERT_EQ(again, value);
      ASSERT_LE(text.size(), 9u);  // -1.234567
    }
}

TEST(LagGenerator, Positions) {
  EXPECT_EQ(lagged_positions(12, 24, 6), (std::vector<int64_t>{12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(lagged_positions(4, 4, 3), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(lagged_positions(2, 4, 3), (std::vector<int64_t>{2, 3, -1}));  // 3 steps ahead: unseen
  EXPECT_EQ(lagged_positions(5, 4, 3), (std::vector<int64_t>{-1, 0, 1}));
}

TEST(LagGenerator, ImpossibleOptions) {
  const auto refused = [](const char* words, auto change) {
    LagOptions options;
    change(options);
    expect_error(ErrorKind::InvalidArgument, words, [&] { draw_lag(options); });
  };
  refused("lag 0", [](LagOptions& options) { options.lag = 0; });
  refused("correlation 1", [](LagOptions& options) { options.correlation = 1; });
  refused("at least 2", [](LagOptions& options) { options.rows = 1; });
  refused("16 GiB", [](LagOptions& options) { options.distractors = int64_t{1} << 30; });
}

}  // namespace
}  // namespace fovea
