#include "fovea/serving/selection.h"

#include <cmath>

#include "fovea/explain/record/json.h"
#include "tests/serving/expect_refusal.h"

namespace fovea::serving::selection_test {
namespace {

using fovea::testing::expect_refusal;
using Numbers = std::vector<double>;

const double kGap = std::nan("");

MapView view(const std::string& name, int64_t layer, int64_t head) {
  MapView map;
  map.name = map.title = name;
  map.query_axis = "target";
  map.key_axis = "source";
  map.query_labels = {"x", "y", "z"};
  map.key_labels = {"a", "b", "c"};
  map.weights = {0.5, 0.3, 0.2, 0.1, 0.2, 0.7, 0.4, 0.4, 0.2};
  map.layer = layer;
  map.head = head;
  return map;
}

/// Two layers of two heads, and one map that has neither.
Explanation sample() {
  Explanation explanation;
  for (const int64_t layer : {1, 2})
    for (const int64_t head : {1, 2}) explanation.maps.push_back(view("cross", layer, head));
  explanation.maps.push_back(view("last", 0, 0));
  explanation.axes = {{"target", "token", {"x", "y", "z"}}, {"source", "token", {"a", "b", "c"}}};
  explanation.axes[0].text = "xyz";
  explanation.axes[0].spans = {{0, 1}, {1, 2}, {2, 3}};
  explanation.faithfulness.resize(2);
  explanation.faithfulness[0].map = "cross";
  explanation.faithfulness[1].map = "last";
  return explanation;
}

Explanation selected(Explanation explanation, const Selection& selection) {
  select_parts(explanation, selection);
  for (const MapView& map : explanation.maps) check_sizes(map);
  explanation_from_json(explanation_to_json(explanation), "selected");
  return explanation;
}

TEST(Selection, NothingChosenChangesNothing) {
  EXPECT_EQ(explanation_to_json(selected(sample(), {})), explanation_to_json(sample()));
}

TEST(Selection, MapsByName) {
  Selection selection;
  selection.maps = {"last"};
  const Explanation left = selected(sample(), selection);
  ASSERT_EQ(left.maps.size(), 1u);
  EXPECT_EQ(left.maps[0].name, "last");
  ASSERT_EQ(left.faithfulness.size(), 1u);
  EXPECT_EQ(left.faithfulness[0].map, "last");
  selection.maps = {"crosss"};
  expect_refusal(422, "did you mean 'cross'?", [&] { selected(sample(), selection); });
}

TEST(Selection, LayersAndHeads) {
  Selection selection;
  selection.layers = {2};
  EXPECT_EQ(selected(sample(), selection).maps.size(), 2u);
  selection.heads = {2};
  const Explanation left = selected(sample(), selection);
  ASSERT_EQ(left.maps.size(), 1u);
  EXPECT_EQ(left.maps[0].layer, 2);
  EXPECT_EQ(left.maps[0].head, 2);
  selection.layers = {1};
  selection.heads = {1};
  EXPECT_EQ(selected(sample(), selection).maps.size(), 2u);  // the only one counts as the first
  selection.layers = {3};
  expect_refusal(422, "layers: there is no 3; the last is 2",
                 [&] { selected(sample(), selection); });
}

TEST(Selection, RowsTakeTheirUnitsAlong) {
  Selection selection;
  selection.rows = {2, 0};
  const Explanation left = selected(sample(), selection);
  EXPECT_EQ(left.maps[0].weights, (Numbers{0.5, 0.3, 0.2, 0.4, 0.4, 0.2}));
  EXPECT_EQ(left.maps[0].query_labels, (std::vector<std::string>{"x", "z"}));
  ASSERT_EQ(left.axes.size(), 2u);
  EXPECT_EQ(left.axes[0].labels, (std::vector<std::string>{"x", "z"}));
  EXPECT_EQ(left.axes[0].spans[1].begin, 2);
  EXPECT_EQ(left.axes[1].labels.size(), 3u);
  selection.rows = {3};
  expect_refusal(422, "has no row 3; it has 3", [&] { selected(sample(), selection); });
}

TEST(Selection, RowsOfSelfAttentionGetAnAxisOfTheirOwn) {
  Explanation explanation = sample();
  for (MapView& map : explanation.maps)
    map.query_axis = "source", map.query_labels = map.key_labels;
  Selection selection;
  selection.rows = {1};
  const Explanation left = selected(explanation, selection);
  EXPECT_EQ(left.maps[0].query_axis, "source rows");
  EXPECT_EQ(left.maps[0].key_axis, "source");
  ASSERT_EQ(left.axes.size(), 3u);
  EXPECT_EQ(left.axes[1].labels.size(), 3u);
  EXPECT_EQ(left.axes[2].labels, (std::vector<std::string>{"b"}));
}

TEST(Selection, GroupsOfACutAxisStillFit) {
  Explanation explanation = sample();
  explanation.axes.push_back({"sentence", "sentence", {"one", "two"}});
  explanation.axes[0].parent = "sentence";
  explanation.axes[0].offsets = {0, 2, 3};
  Selection selection;
  selection.rows = {1, 2};
  EXPECT_EQ(selected(explanation, selection).axes[0].offsets, (std::vector<int64_t>{0, 1, 2}));
}

TEST(Selection, TheLargestWeightsOfEachRow) {
  Explanation explanation = sample();
  MapView& map = explanation.maps[4];
  map.kind = MapKind::Free;
  map.weights = {0.1, -0.9, 0.3, kGap, 0.2, 0.1, 0.5, 0.5, 0.5};
  map.spread = Numbers(9, 0.01);
  Selection selection;
  selection.top_k = 1;
  const Explanation left = selected(explanation, selection);
  EXPECT_EQ(left.maps[0].weights, (Numbers{0.5, 0, 0, 0, 0, 0.7, 0.4, 0, 0}));
  EXPECT_EQ(left.maps[0].kind, MapKind::Partial);
  const MapView& free = left.maps[4];
  EXPECT_EQ(free.kind, MapKind::Free);
  EXPECT_TRUE(std::isnan(free.weights[3]));
  EXPECT_EQ(free.weights[1], -0.9);
  EXPECT_EQ(free.weights[0] + free.weights[2] + free.weights[5] + free.weights[7], 0);
  EXPECT_EQ(free.weights[6], 0.5);
  EXPECT_EQ(free.spread[0], 0);
  EXPECT_EQ(free.spread[1], 0.01);
  selection.top_k = 99;
  EXPECT_EQ(selected(sample(), selection).maps[0].weights, sample().maps[0].weights);
}

TEST(Selection, EdgesAreLeftOutInsteadOfZero) {
  Explanation explanation = sample();
  explanation.maps.resize(1);
  MapView& map = explanation.maps[0];
  map.layout = MapLayout::Edges;
  map.edge_queries = {0, 0, 2, 2, 2};
  map.edge_keys = {0, 1, 0, 1, 2};
  map.weights = {0.4, 0.6, 0.2, 0.5, 0.3};
  Selection selection;
  selection.rows = {2};
  selection.top_k = 2;
  const MapView left = selected(explanation, selection).maps[0];
  EXPECT_EQ(left.weights, (Numbers{0.5, 0.3}));
  EXPECT_EQ(left.edge_queries, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(left.edge_keys, (std::vector<int64_t>{1, 2}));
}

TEST(Selection, GlimpsesStayWhole) {
  Explanation explanation = sample();
  explanation.maps.resize(1);
  MapView& map = explanation.maps[0];
  map.layout = MapLayout::Points;
  map.kind = MapKind::Free;
  map.point_width = 4;
  map.weights = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Selection selection;
  selection.rows = {1};
  selection.top_k = 1;
  EXPECT_EQ(selected(explanation, selection).maps[0].weights, (Numbers{5, 6, 7, 8}));
}

}  // namespace
}  // namespace fovea::serving::selection_test
