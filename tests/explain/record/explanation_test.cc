#include "fovea/explain/record/explanation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/fake_predictor.h"
#include "tests/support/expect_error.h"

namespace fovea::explanation_test {
namespace {

TEST(Explanation, JoinsMapsWithLabelsAndTruth) {
  FakePredictor predictor;
  predictor.maps = {dense_map("features", "", "columns", torch::tensor({{{{0.25, 0.75}}}}))};
  Example example = example_with({{"columns", {"age", "income"}}});
  example.truth["features"] = torch::tensor({{false, true}});
  ExplainOptions options;
  options.task = "features";
  options.title = "Title";
  options.map_titles["features"] = "Feature attention";
  const Explanation explanation = explain_example(predictor, example, options);
  ASSERT_EQ(explanation.maps.size(), 1u);
  const MapView& map = explanation.maps[0];
  EXPECT_EQ(explanation.task, "features");
  EXPECT_EQ(explanation.prediction, "class 1 (0.8)");
  EXPECT_EQ(map.title, "Feature attention");
  EXPECT_EQ(map.query_labels, std::vector<std::string>{"prediction"});
  EXPECT_EQ(map.key_labels, (std::vector<std::string>{"age", "income"}));
  EXPECT_EQ(map.weights, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(map.truth, (std::vector<char>{0, 1}));
  EXPECT_TRUE(map.spread.empty());
  EXPECT_TRUE(explanation.notes.empty());
}

TEST(Explanation, HeadsAreAveragedOrChosen) {
  const Example example = example_with({{"columns", {"a", "b"}}});
  const AttentionMap map =
      dense_map("m", "", "columns", torch::tensor({{{{1.0, 0.0}}, {{0.0, 1.0}}}}));
  EXPECT_EQ(make_view(map, example).weights, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(make_view(map, example).title, "m (mean of 2 heads)");
  ExplainOptions options;
  options.head = 2;
  EXPECT_EQ(make_view(map, example, options).weights, (std::vector<double>{0, 1}));
  EXPECT_EQ(make_view(map, example, options).title, "m (head 2 of 2)");
  options.head = 3;
  EXPECT_THROW(make_view(map, example, options), Error);
}

TEST(Explanation, UnitsThatWereTakenAwayAreGaps) {
  Example example = example_with({{"neighbours", {"a", "b", "c"}}});
  example.tensors["neighbours.left"] = torch::tensor({0, 2}, torch::kLong);
  const MapView view =
      make_view(dense_map("m", "", "neighbours", torch::tensor({{{{0.25, 0.75}}}})), example);
  ASSERT_EQ(view.weights.size(), 3u);
  EXPECT_EQ(view.weights[0], 0.25);
  EXPECT_TRUE(std::isnan(view.weights[1]));
  EXPECT_EQ(view.weights[2], 0.75);
}

TEST(Explanation, AxesThatDoNotFitAreInternalErrors) {
  const Example example = example_with({{"columns", {"a", "b", "c"}}});
  auto message = [&](const AttentionMap& map) -> std::string {
    try {
      make_view(map, example);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Internal);
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message(dense_map("m", "", "columns", torch::zeros({1, 1, 1, 2}))).find("2 weights"),
            std::string::npos);
  EXPECT_NE(message(dense_map("m", "", "columns", torch::zeros({1, 1, 1, 2}))).find("3 labels"),
            std::string::npos);
  EXPECT_NE(message(dense_map("m", "", "words", torch::zeros({1, 1, 1, 2}))).find("'words'"),
            std::string::npos);
  EXPECT_NE(message(dense_map("m", "", "columns", torch::zeros({1, 1, 2, 3}))).find("2 queries"),
            std::string::npos);
  EXPECT_NE(message(dense_map("m", "", "columns", torch::zeros({2, 1, 1, 3}))).find("[2, 1, 1, 3]"),
            std::string::npos);
}

TEST(Explanation, BrokenMapsAreShownWithANote) {
  FakePredictor predictor;
  predictor.maps = {dense_map("m", "", "columns", torch::tensor({{{{0.9, 0.9}}}}))};
  const Explanation explanation =
      explain_example(predictor, example_with({{"columns", {"a", "b"}}}));
  EXPECT_EQ(explanation.maps.size(), 1u);
  ASSERT_EQ(explanation.notes.size(), 1u);
  EXPECT_NE(explanation.notes[0].find("'m' (distribution)"), std::string::npos);
}

TEST(Explanation, EdgesAreListed) {
  AttentionMap map = dense_map("e", "node", "node", torch::tensor({{0.25, 0.75}, {1.0, 0.0}}));
  map.layout = MapLayout::Edges;
  map.index = torch::tensor({{0, 1}, {2, 1}});
  const Example graph = example_with({{"node", {"a", "b", "c"}}});
  ExplainOptions options;
  options.head = 2;
  const MapView view = make_view(map, graph, options);
  EXPECT_EQ(view.edge_queries, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(view.edge_keys, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(view.weights, (std::vector<double>{0.75, 0}));
  EXPECT_EQ(make_view(map, graph).weights, (std::vector<double>{0.5, 0.5})) << "the mean";
  map.index = torch::tensor({{0, 3}, {2, 1}});
  EXPECT_THROW(make_view(map, graph), Error) << "there is no node 3";
}

TEST(Explanation, EveryHeadAndLayerIsAViewAndPicturesShowTheirMean) {
  FakePredictor predictor;
  for (int64_t layer = 1; layer <= 2; ++layer) {
    AttentionMap map = dense_map("self", "token", "token", torch::rand({1, 3, 4, 4}).softmax(-1));
    map.layer = layer;
    predictor.maps.push_back(map);
  }
  ExplainOptions options;
  options.heads = Heads::All;
  const Explanation all = explain_example(
      predictor, example_with({{"token", {"a", "b", "c", "d"}}, {"unused", {"x"}}}), options);
  ASSERT_EQ(all.maps.size(), 2u * 3u + 2u) << "and rollout and flow";
  EXPECT_EQ(all.maps[4].layer, 2);
  EXPECT_EQ(all.maps[4].head, 2);
  EXPECT_EQ(all.maps[4].title, "self");
  EXPECT_EQ(all.maps[6].name, "self rollout");
  ASSERT_EQ(all.axes.size(), 1u) << "only axes that a map names";
  const Explanation mean = mean_of_heads(all);
  ASSERT_EQ(mean.maps.size(), 4u);
  EXPECT_EQ(mean.maps[1].title, "self, layer 2 (mean of 3 heads)");
  const at::Tensor expected = predictor.maps[1].weights[0].mean(0).to(torch::kDouble);
  for (int64_t q = 0; q < 4; ++q)
    for (int64_t k = 0; k < 4; ++k)
      EXPECT_NEAR(mean.maps[1].weight(size_t(q), size_t(k)), expected[q][k].item<double>(), 1e-7);
}

TEST(Explanation, FreeMapsOverTheSameAxesBecomeSeries) {
  FakePredictor predictor;
  const at::Tensor weights = torch::tensor({{{{0.5, -2.0}}}});
  predictor.maps = {dense_map("a", "context", "position", weights, MapKind::Free),
                    dense_map("b", "context", "position", weights, MapKind::Free),
                    dense_map("c", "", "position", weights, MapKind::Free)};
  const Explanation explanation = explain_example(
      predictor, example_with({{"context", {"context 3"}}, {"position", {"0", "1"}}}));
  EXPECT_EQ(explanation.maps[0].group, "a");
  EXPECT_EQ(explanation.maps[1].group, "a");
  EXPECT_EQ(explanation.maps[2].group, "");
}

/// A predictor whose output has that many units, over a source of two.
FakePredictor with_output(const std::vector<std::string>& units) {
  FakePredictor predictor;
  const auto count = static_cast<int64_t>(units.size());
  predictor.maps = {dense_map("alignment", "output", "source", torch::full({1, 1, count, 2}, 0.5))};
  predictor.output_axes = example_with({{"output", units}}).axes;
  return predictor;
}

TEST(Explanation, OutputsAreLabelledByThePredictor) {
  Example example = example_with({{"source", {"a", "b"}}});
  example.truth["alignment"] = torch::tensor({{true, false}, {false, true}, {false, false}});
  const Explanation explanation = explain_example(with_output({"A", "B", "<end>"}), example);
  EXPECT_EQ(explanation.maps[0].query_labels, (std::vector<std::string>{"A", "B", "<end>"}));
  EXPECT_EQ(explanation.maps[0].truth, (std::vector<char>{1, 0, 0, 1, 0, 0}));
  EXPECT_TRUE(explanation.notes.empty());
}

TEST(Explanation, TruthOfAnotherOutputIsLeftOutWithANote) {
  Example example = example_with({{"source", {"a", "b"}}});
  example.truth["alignment"] = torch::tensor({{true, false}, {false, true}, {false, false}});
  const Explanation explanation = explain_example(with_output({"A", "<end>"}), example);
  EXPECT_TRUE(explanation.maps[0].truth.empty());
  ASSERT_EQ(explanation.notes.size(), 1u);
  EXPECT_NE(explanation.notes[0].find("'alignment'"), std::string::npos);
  EXPECT_NE(explanation.notes[0].find("[3, 2]"), std::string::npos) << explanation.notes[0];
  // As many numbers, but turned round: no truth for this output either.
  example.truth["alignment"] = torch::zeros({2, 3}, torch::kBool);
  EXPECT_TRUE(explain_example(with_output({"A", "B", "<end>"}), example).maps[0].truth.empty());
}

TEST(Explanation, TruthThatDoesNotFitAnAxisOfTheExampleIsStillAnError) {
  FakePredictor predictor = with_output({"A", "B"});
  predictor.output_axes.clear();
  Example example = example_with({{"source", {"a", "b"}}, {"output", {"A", "B"}}});
  example.truth["alignment"] = torch::zeros({3, 2}, torch::kBool);
  testing::expect_error(ErrorKind::Internal, "planted truth has 6",
                        [&] { explain_example(predictor, example); });
}

TEST(Explanation, DescribesPredictions) {
  FakePredictor predictor;
  const Example example = example_with({});
  predictor.prediction = {};
  predictor.prediction.values = torch::tensor({0.5, -2.25});
  EXPECT_EQ(explain_example(predictor, example).prediction, "0.5, -2.25");
  predictor.prediction.scores = torch::tensor({0.93});
  EXPECT_EQ(explain_example(predictor, example).prediction, "probability 0.93");
  predictor.prediction = {};
  predictor.prediction.outputs.resize(2);
  predictor.prediction.outputs[0].tokens = {7, 2};
  predictor.prediction.outputs[1].tokens = {7, 3};
  EXPECT_EQ(explain_example(predictor, example).prediction, "7, 2") << "the chosen one alone";
  predictor.prediction.outputs[0].text = "le chat";
  EXPECT_EQ(explain_example(predictor, example).prediction, "le chat");
  ExplainOptions options;
  options.describe = [](const Example&, const Prediction&) { return "malignant"; };
  EXPECT_EQ(explain_example(predictor, example, options).prediction, "malignant");
}

TEST(Explanation, CheckSizesNamesBothNumbers) {
  MapView view;
  view.query_labels = {"q"};
  view.key_labels = {"a", "b"};
  view.weights = {1};
  EXPECT_THROW(check_sizes(view), Error);
  view.weights = {1, 2};
  EXPECT_NO_THROW(check_sizes(view));
  view.spread = {1};
  EXPECT_THROW(check_sizes(view), Error);
  view.spread.clear();
  view.truth = {1, 0, 1};
  EXPECT_THROW(check_sizes(view), Error);
}

}  // namespace
}  // namespace fovea::explanation_test
