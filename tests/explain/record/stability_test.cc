#include "fovea/explain/record/stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/metrics/statistics.h"
#include "fovea/tensor/random.h"
#include "tests/support/expect_error.h"

namespace fovea::stability_test {
namespace {

MapView view_with(std::vector<double> weights, const std::string& query = "q",
                  MapKind kind = MapKind::Free) {
  MapView view;
  view.name = "attention";
  view.kind = kind;
  view.query_labels = {query};
  for (size_t i = 0; i < weights.size(); ++i) view.key_labels.push_back(std::to_string(i));
  view.weights = std::move(weights);
  return view;
}

TEST(Stability, IntervalOverSeedsIsStudents) {
  const std::vector<MapView> views{view_with({0.1, 2}), view_with({0.2, 2}), view_with({0.6, 2})};
  const MapView mean = mean_over_seeds(views);
  const Summary summary = summarize(std::vector<double>{0.1, 0.2, 0.6});
  EXPECT_NEAR(mean.weights[0], 0.3, 1e-12);
  EXPECT_NEAR(mean.low[0], 0.3 - summary.interval.value(), 1e-12);
  EXPECT_NEAR(mean.high[0], 0.3 + summary.interval.value(), 1e-12);
  EXPECT_DOUBLE_EQ(mean.low[1], 2);
  EXPECT_DOUBLE_EQ(mean.high[1], 2);
  EXPECT_EQ(mean.interval_of, "3 seeds");
}

TEST(Stability, RowsOfOneLabelStayApartAndTruthStaysWhereAllAgree) {
  MapView first, second;  // the output wrote the same letter twice
  first.query_labels = {"A", "A"};
  first.key_labels = {"k"};
  first.weights = {1, 5};
  first.truth = {0, 1};
  second = first;
  second.weights = {3, 9};
  const MapView mean = mean_over_seeds(std::vector<MapView>{first, second});
  EXPECT_EQ(mean.weights, (std::vector<double>{2, 7}));
  EXPECT_EQ(mean.truth, first.truth);
  second.truth = {1, 0};
  EXPECT_TRUE(mean_over_seeds(std::vector<MapView>{first, second}).truth.empty());
}

TEST(Stability, IntervalsStayInWhatTheKindAllows) {
  const auto shares = [](double weight) {
    return view_with({weight, 1 - weight}, "q", MapKind::Distribution);
  };
  const MapView mean = mean_over_seeds(std::vector<MapView>{shares(0), shares(0.9)});
  EXPECT_DOUBLE_EQ(mean.low[0], 0);
  EXPECT_DOUBLE_EQ(mean.high[0], 1);
  const MapView free = mean_over_seeds(std::vector<MapView>{view_with({0}), view_with({0.9})});
  EXPECT_LT(free.low[0], -1);
}

TEST(Stability, GapsHaveNoInterval) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const MapView mean =
      mean_over_seeds(std::vector<MapView>{view_with({gap, gap, 1}), view_with({gap, 4, 3})});
  EXPECT_TRUE(std::isnan(mean.weights[0]) && std::isnan(mean.low[0]) && std::isnan(mean.high[0]));
  EXPECT_EQ(mean.weights[1], 4);
  EXPECT_TRUE(std::isnan(mean.low[1]));
  EXPECT_FALSE(std::isnan(mean.low[2]));
}

TEST(Stability, OtherLabelsHaveNoCommonInterval) {
  testing::expect_error(ErrorKind::Unsupported, {"attention", "1 x 2", "1 x 1"}, [] {
    mean_over_seeds(std::vector<MapView>{view_with({1}), view_with({1, 2})});
  });
  testing::expect_error(ErrorKind::Unsupported, "other labels", [] {
    mean_over_seeds(std::vector<MapView>{view_with({1}, "a"), view_with({1}, "b")});
  });
  testing::expect_error(ErrorKind::InvalidArgument, "found 1",
                        [] { mean_over_seeds(std::vector<MapView>{view_with({1})}); });
}

TEST(Stability, ExplanationsAreJoinedMapByMap) {
  Explanation first, second;
  first.prediction = "yes";
  first.answer = {{"class", "yes"}};
  first.maps = {view_with({1}), view_with({5})};
  first.maps[1].head = 2;
  second.maps = {view_with({9}), view_with({3})};
  second.maps[0].head = 2;
  first.maps.push_back(view_with({1}));
  first.maps.back().name = "only here";
  const Explanation mean = mean_over_seeds(std::vector<Explanation>{first, second});
  ASSERT_EQ(mean.maps.size(), 2u);
  EXPECT_EQ(mean.maps[0].weights[0], 2);
  EXPECT_EQ(mean.maps[1].weights[0], 7);
  EXPECT_EQ(mean.prediction, "mean over 2 seeds");
  EXPECT_TRUE(mean.answer.is_null());
  ASSERT_EQ(mean.notes.size(), 1u);
  EXPECT_NE(mean.notes[0].find("'only here' is left out: 1 of 2"), std::string::npos);
  testing::expect_error(ErrorKind::InvalidArgument, "found 1",
                        [&] { mean_over_seeds(std::vector<Explanation>{first}); });
}

std::vector<MapView> normal_views(size_t count) {
  const Random random(5);
  std::vector<MapView> views;
  for (size_t i = 0; i < count; ++i) views.push_back(view_with({random.normal(i), 0.25}));
  return views;
}

TEST(Stability, BootstrapIntervalIsAboutTwoStandardErrors) {
  const auto views = normal_views(400);
  BootstrapOptions options;
  options.resamples = 1000;
  const MapView mean = mean_with_bootstrap(views, options);
  std::vector<double> values;
  for (const MapView& view : views) values.push_back(view.weights[0]);
  const Summary summary = summarize(values);
  EXPECT_NEAR(mean.weights[0], summary.mean, 1e-12);
  EXPECT_NEAR(mean.low[0], summary.mean - *summary.interval, 0.1 * *summary.interval);
  EXPECT_NEAR(mean.high[0], summary.mean + *summary.interval, 0.1 * *summary.interval);
  EXPECT_DOUBLE_EQ(mean.low[1], 0.25);
  EXPECT_DOUBLE_EQ(mean.high[1], 0.25);
  EXPECT_EQ(mean.interval_of, "1,000 bootstraps of 400 examples");
}

TEST(Stability, BootstrapDependsOnTheSeedAlone) {
  const auto views = normal_views(30);
  EXPECT_EQ(mean_with_bootstrap(views).low, mean_with_bootstrap(views).low);
  EXPECT_NE(mean_with_bootstrap(views).low, mean_with_bootstrap(views, {200, 1}).low);
}

TEST(Stability, BootstrapMatchesRowsByLabel) {
  // "a" occurs with 1 and 3, "b" only once: whatever is drawn, its mean is the same.
  const std::vector<MapView> views{view_with({1}, "a"), view_with({3}, "a"), view_with({7}, "b")};
  const MapView mean = mean_with_bootstrap(views);
  ASSERT_EQ(mean.query_labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(mean.low, (std::vector<double>{1, 7}));
  EXPECT_EQ(mean.high, (std::vector<double>{3, 7}));
}

TEST(Stability, BootstrapLeavesGapsOut) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const MapView mean =
      mean_with_bootstrap(std::vector<MapView>{view_with({gap, 2}), view_with({gap, gap})});
  EXPECT_TRUE(std::isnan(mean.low[0]));
  EXPECT_EQ(mean.low[1], 2);
  EXPECT_EQ(mean.high[1], 2);
  testing::expect_error(ErrorKind::InvalidArgument, "none", [] { mean_with_bootstrap({}); });
  testing::expect_error(ErrorKind::InvalidArgument, "found 1", [] {
    mean_with_bootstrap(std::vector<MapView>{view_with({1})}, {1, 0});
  });
}

}  // namespace
}  // namespace fovea::stability_test
