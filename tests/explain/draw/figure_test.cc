#include "fovea/explain/draw/figure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/explain/samples.h"

namespace fovea::figure_test {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Figure, KindFollowsTheMap) {
  EXPECT_EQ(arrange(sample_features())[0].kind, FigureKind::Bars);
  EXPECT_EQ(arrange(sample_matrix())[0].kind, FigureKind::Matrix);
  const Explanation contexts = sample_contexts();
  const std::vector<Figure> figures = arrange(contexts);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].kind, FigureKind::Panels);
  EXPECT_EQ(figures[0].series.size(), 2u);
}

TEST(Figure, GroupsWithOtherLabelsStayApart) {
  Explanation contexts = sample_contexts();
  contexts.maps[1].key_labels[0] = "other";
  EXPECT_EQ(arrange(contexts).size(), 2u);
}

TEST(Figure, SelectsInOrderOrByWeight) {
  const std::vector<double> row = {0.1, 0.5, kNaN, 0.4};
  EXPECT_EQ(select_bars({row}, {}).keys, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(select_bars({row}, {BarOrder::Weights, 30}).keys, (std::vector<size_t>{1, 3, 0, 2}));
  const BarSelection two = select_bars({row}, {BarOrder::Keys, 2});
  EXPECT_EQ(two.keys, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(two.hidden, 2u);
  EXPECT_DOUBLE_EQ(two.hidden_sum, 0.1);
  EXPECT_TRUE(select_bars({}, {}).keys.empty());
}

TEST(Figure, ManyKeysAreSortedAndSummed) {
  std::vector<double> row(104, 0.001);
  row[100] = 0.9;
  const BarSelection selection = select_bars({row}, {});
  EXPECT_EQ(selection.keys.size(), 30u);
  EXPECT_EQ(selection.keys[0], 100u);
  EXPECT_EQ(selection.keys[1], 0u);  // equal weights keep their order
  EXPECT_EQ(hidden_text(selection, "…"), "… and 74 more, together 0.074");
}

TEST(Figure, PanelRowsOfFreeMapsAreShares) {
  MapView map;
  map.query_labels = {"q"};
  map.key_labels = {"a", "b", "c"};
  map.weights = {-3, 1, kNaN};
  map.kind = MapKind::Free;
  const PanelRow share = panel_row(map, 0);
  EXPECT_DOUBLE_EQ(share.heights[0], 0.75);
  EXPECT_DOUBLE_EQ(share.heights[1], 0.25);
  EXPECT_TRUE(std::isnan(share.heights[2]));
  EXPECT_DOUBLE_EQ(share.scale, 0.25);
  map.kind = MapKind::Gate;
  EXPECT_DOUBLE_EQ(panel_row(map, 0).heights[1], 1);
  map.kind = MapKind::Free;
  map.weights = {0, 0, 0};
  EXPECT_DOUBLE_EQ(panel_row(map, 0).heights[0], 0);
}

TEST(Figure, ReduceKeepsTheLargestMagnitude) {
  MapView map;
  map.query_labels = {"q0", "q1", "q2"};
  map.key_labels = {"a", "b", "c", "d"};
  map.weights = {1, -2, 0, kNaN, 0, 0, 0, kNaN, kNaN, kNaN, 5, 0};
  map.truth = std::vector<char>(12, 0);
  map.truth[11] = 1;
  const MatrixCells cells = max_pool(map, 2, 2);
  EXPECT_EQ(cells.rows, 2u);
  EXPECT_EQ(cells.columns, 2u);
  EXPECT_EQ(cells.row_labels, (std::vector<std::string>{"q0", "q2"}));
  EXPECT_EQ(cells.column_labels, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(cells.values[0], -2);
  EXPECT_TRUE(std::isnan(cells.values[2]));
  EXPECT_EQ(cells.values[3], 5);
  EXPECT_EQ(cells.truth, (std::vector<char>{0, 0, 0, 1}));
  EXPECT_TRUE(cells.has_negative && cells.has_gap && cells.has_truth);
  EXPECT_EQ(pooling_text(cells), "each cell shows the largest of 2 x 2 weights");
  EXPECT_EQ(pooling_text(max_pool(map, 3, 4)), "");
}

TEST(Figure, LabelsOfBlanksAreVisible) {
  const MatrixCells cells = max_pool(sample_date().maps[0], 100, 100);
  EXPECT_EQ(cells.column_labels[8], "␣");
  EXPECT_EQ(cells.column_labels[9], "9");
}

TEST(Figure, GapsAreNoted) {
  const std::vector<std::string> notes = drawing_notes(sample_odd());
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[1], "map 'odd': 2 of 8 weights are not numbers and are left blank");
}

TEST(Figure, MapsThatAreNotDrawnAreNotedOnce) {
  MapView layer;
  layer.name = "attention";
  layer.layout = MapLayout::Edges;
  Explanation graph;
  graph.maps = {layer, layer};
  EXPECT_EQ(drawing_notes(graph).size(), 1u);
}

}  // namespace
}  // namespace fovea::figure_test
