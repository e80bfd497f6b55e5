#include "fovea/explain/record/average.h"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/fake_predictor.h"

namespace fovea {
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

TEST(Average, OutputsAreLabelledByThePredictor) {
  FakePredictor predictor;
  predictor.maps = {dense_map("alignment", "output", "source", torch::full({1, 1, 2, 2}, 0.5))};
  predictor.output_axes = example_with({{"output", {"A", "<end>"}}}).axes;
  Example example = example_with({{"source", {"a", "b"}}});
  example.truth["alignment"] = torch::zeros({3, 2}, torch::kBool);  // of another output
  const Explanation explanation = explain_average(predictor, std::vector<Example>(3, example));
  EXPECT_EQ(explanation.maps[0].query_labels, (std::vector<std::string>{"A", "<end>"}));
  EXPECT_TRUE(explanation.maps[0].truth.empty());
}

TEST(Average, ExplainsManyExamples) {
  FakePredictor predictor;
  predictor.maps_for = [](const Example& example) {
    const auto value = example.tensors.at("x");
    return std::vector<AttentionMap>{
        dense_map("m", "", "columns", torch::stack({value, 1 - value}).reshape({1, 1, 1, 2}))};
  };
  std::vector<Example> examples;
  for (int i = 0; i < 600; ++i) {
    examples.push_back(example_with({{"columns", {"a", "b"}}}));
    examples.back().tensors["x"] = torch::tensor(i % 2 == 0 ? 0.25 : (i == 1 ? 1.5 : 0.75));
  }
  const Explanation explanation = explain_average(predictor, examples);
  EXPECT_EQ(explanation.prediction, "mean over 600 examples");
  ASSERT_EQ(explanation.maps.size(), 1u);
  EXPECT_NEAR(explanation.maps[0].weights[0], 0.5 + 0.75 / 600, 1e-9);
  EXPECT_GT(explanation.maps[0].spread[0], 0.2);
  ASSERT_EQ(explanation.notes.size(), 1u);
  EXPECT_NE(explanation.notes[0].find("1 of 600 examples"), std::string::npos);
  EXPECT_THROW(explain_average(predictor, {}), Error);
}

}  // namespace
}  // namespace fovea
