#include "fovea/serving/pipeline_model.h"

#include "tests/serving/expect_refusal.h"

namespace fovea::serving::costs_test {
namespace {

using fovea::testing::expect_refusal;

Example example_of(const std::vector<std::pair<std::string, size_t>>& axes) {
  Example example;
  for (const auto& [name, units] : axes)
    example.axes.push_back({name, "token", std::vector<std::string>(units, "x")});
  return example;
}

MapView view_of(const std::string& name, int64_t layer, int64_t head, const std::string& query,
                const std::string& key) {
  MapView view;
  view.name = name;
  view.layer = layer;
  view.head = head;
  view.query_axis = query;
  view.key_axis = key;
  view.query_labels = view.key_labels = {"a", "b"};
  view.weights.assign(4, 0.5);
  return view;
}

/// Two layers of three heads, their rollout, and a map of the output.
Explanation stacked() {
  Explanation explanation;
  for (int64_t layer = 1; layer <= 2; ++layer)
    for (int64_t head = 1; head <= 3; ++head)
      explanation.maps.push_back(view_of("self", layer, head, "tokens", "tokens"));
  explanation.maps.push_back(view_of("self rollout", 0, 0, "tokens", "tokens"));
  explanation.maps.push_back(view_of("cross", 0, 0, "output", "tokens"));
  return explanation;
}

TEST(Costs, WeightsFollowTheAxes) {
  const ExplanationShape shape(stacked());
  const Example given = example_of({{"tokens", 10}});
  EXPECT_EQ(shape.weights(given, Heads::All), 6 * 100 + 100 + 10);
  EXPECT_EQ(shape.weights(given, Heads::Mean), 2 * 100 + 100 + 10);
  const Example described = example_of({{"tokens", 10}, {"output", 7}});
  EXPECT_EQ(shape.weights(described, Heads::All), 6 * 100 + 100 + 70);
}

TEST(Costs, OnlyWhatIsChosenCounts) {
  const ExplanationShape shape(stacked());
  const Example example = example_of({{"tokens", 10}});
  HeadChoice choice = Heads::All;
  choice.layers = {2};
  EXPECT_EQ(shape.weights(example, choice), 3 * 100 + 10);
  choice.heads = {1, 3};
  EXPECT_EQ(shape.weights(example, choice), 2 * 100 + 10);
}

TEST(Costs, EdgesAndPointsCountByTheirQueries) {
  Explanation explanation;
  MapView edges = view_of("edges", 0, 0, "nodes", "nodes");
  edges.layout = MapLayout::Edges;
  edges.weights.assign(6, 0.5);  // three for each of two
  explanation.maps = {edges};
  EXPECT_EQ(ExplanationShape(explanation).weights(example_of({{"nodes", 100}}), Heads::All), 300);
}

TEST(Costs, HugeAxesDoNotOverflow) {
  const Example example = example_of({{"tokens", 1000000}});
  EXPECT_EQ(ExplanationShape(stacked()).weights(example, Heads::All), 7000000000000 + 1000000);
}

TEST(Costs, AreRefusedAboveTheirLimit) {
  EXPECT_NO_THROW(check_units(10, 10, "inputs"));
  expect_refusal(422, "10 units", [] { check_units(11, 10, "inputs"); });
  EXPECT_NO_THROW(check_weights(10, 10));
  expect_refusal(422, "11 weights, this server gives at most 10", [] { check_weights(11, 10); });
}

}  // namespace
}  // namespace fovea::serving::costs_test
