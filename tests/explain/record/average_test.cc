#include "fovea/explain/record/average.h"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"

namespace fovea::average_test {
namespace {

MapView one_row(const std::string& query, std::vector<double> weights) {
  MapView view;
  view.name = "m";
  view.query_axis = "context";
  view.key_axis = "position";
  view.query_labels = {query};
  view.key_labels.resize(weights.size(), "k");
  view.weights = std::move(weights);
  return view;
}

TEST(Average, MeanAndDeviationOfEachKey) {
  MapAverage average;
  average.add(one_row("prediction", {1, 10}));
  average.add(one_row("prediction", {3, 10}));
  average.add(one_row("prediction", {5, std::numeric_limits<double>::quiet_NaN()}));
  const MapView result = average.result();
  EXPECT_EQ(result.weights, (std::vector<double>{3, 10}));
  EXPECT_EQ(result.spread, (std::vector<double>{2, 0}));
  EXPECT_EQ(result.group, "");
}

TEST(Average, RowsAreMatchedByLabelAndSortedNaturally) {
  MapAverage average;
  for (const char* label : {"context 10", "context 2", "context 10", "a"})
    average.add(one_row(label, {label[0] == 'a' ? 7.0 : 1.0}));
  const MapView result = average.result();
  EXPECT_EQ(result.query_labels, (std::vector<std::string>{"a", "context 2", "context 10"}));
  EXPECT_EQ(result.weights, (std::vector<double>{7, 1, 1}));
  EXPECT_EQ(result.group, "context");
}

TEST(Average, TruthStaysOnlyWhereItNeverChanges) {
  MapView view = one_row("q", {1, 2});
  view.truth = {0, 1};
  MapAverage fixed;
  fixed.add(view);
  fixed.add(view);
  EXPECT_EQ(fixed.result().truth, (std::vector<char>{0, 1}));
  view.truth = {1, 0};
  fixed.add(view);
  EXPECT_TRUE(fixed.result().truth.empty());
}

TEST(Average, KeysThatNeverHadANumberAreGaps) {
  MapAverage average;
  average.add(one_row("q", {std::numeric_limits<double>::infinity(), 1}));
  EXPECT_TRUE(std::isnan(average.result().weights[0]));
  EXPECT_EQ(average.result().weights[1], 1);
}

TEST(Average, OtherKeysHaveNoCommonMean) {
  MapAverage average;
  average.add(one_row("q", {1, 2}));
  try {
    average.add(one_row("q", {1, 2, 3}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("3 here, 2 before"), std::string::npos);
  }
  EXPECT_THROW(MapAverage().result(), Error);
}

}  // namespace
}  // namespace fovea::average_test
