#include "fovea/data/graph/graph.h"

#include "fovea/data/graph/subgraph.h"
#include "tests/data/testing.h"

namespace fovea::graph_test {
namespace {

using Edges = std::vector<std::pair<int64_t, int64_t>>;
using Numbers = std::vector<int64_t>;

std::vector<std::string> names(int64_t count) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(concat("n", i));
  return all;
}

Numbers neighbours(const Graph& graph, int64_t node) {
  const auto all = graph.neighbours(node);
  return {all.begin(), all.end()};
}

Graph graph_of(int64_t nodes, const Edges& edges, bool directed = false) {
  EdgeCounts counts;
  return Graph(names(nodes), edges, directed, counts);
}

RawFeatures sparse_rows(const std::vector<std::vector<std::pair<int64_t, float>>>& rows,
                        std::vector<std::string> columns) {
  RawFeatures raw;
  raw.columns = std::move(columns);
  for (const auto& row : rows) raw.add_row(row);
  return raw;
}

TEST(Graph, SelfLoopsRepeatedEdgesAndIsolatedNodes) {
  EdgeCounts counts;
  const Graph graph(names(5), Edges{{0, 1}, {1, 0}, {0, 1}, {2, 2}, {3, 1}}, false, counts);
  EXPECT_EQ(neighbours(graph, 0), (Numbers{1}));
  EXPECT_EQ(neighbours(graph, 1), (Numbers{0, 3}));
  EXPECT_TRUE(neighbours(graph, 2).empty());
  EXPECT_EQ(graph.edges(), 4);
  EXPECT_EQ(counts.self_loops, 1);
  EXPECT_EQ(counts.repeated, 2);
  EXPECT_EQ(counts.isolated, 2) << "nodes 2 and 4";
}

TEST(Graph, ADirectedEdgeLetsItsTargetLook) {
  EdgeCounts counts;
  const Graph graph(names(3), Edges{{0, 1}, {1, 2}, {0, 1}}, true, counts);
  EXPECT_TRUE(neighbours(graph, 0).empty());
  EXPECT_EQ(neighbours(graph, 1), (Numbers{0}));
  EXPECT_EQ(counts.repeated, 1);
  EXPECT_EQ(counts.isolated, 0);
}

TEST(Features, ColumnsHaveAFixedOrderAndRowsShareOne) {
  const RawFeatures raw =
      sparse_rows({{{0, 1}, {1, 3}}, {{2, 2}}, {{3, 1}}}, {"10", "red", "9", "blue"});
  const FeatureCoding coding = fit_features(raw, {1, 1, 0}, "auto");
  EXPECT_EQ(coding.columns, (std::vector<std::string>{"9", "10", "red"})) << "blue was not seen";
  EXPECT_EQ(coding.scaling, "rows");
  Graph graph = graph_of(3, {});
  EXPECT_EQ(graph.set_features(raw, coding), 1) << "blue is not known";
  EXPECT_EQ(graph.features(0).index, (Numbers{1, 2}));
  EXPECT_EQ(graph.features(0).value, (std::vector<float>{0.25, 0.75}));
  EXPECT_EQ(graph.features(1).index, (Numbers{0}));
  EXPECT_TRUE(graph.features(2).value.empty());
  const FeatureCoding again = FeatureCoding::from_json(coding.to_json(), "here");
  EXPECT_EQ(again.columns, coding.columns);
  EXPECT_EQ(again.find("red"), 2);
  EXPECT_EQ(again.find("blue"), -1);
}

TEST(Features, DenseColumnsAreStandardisedByWhatTrainingSees) {
  RawFeatures raw;
  raw.dense = true, raw.columns = {"a", "b"};
  raw.value = {1, 7, 3, 7, 100, 8};
  const FeatureCoding coding = fit_features(raw, {1, 1, 0}, "auto");
  EXPECT_EQ(coding.scaling, "columns");
  Graph graph = graph_of(3, {});
  EXPECT_EQ(graph.set_features(raw, coding), 0);
  EXPECT_EQ(graph.features(0).value, (std::vector<float>{-1, 0}));
  EXPECT_EQ(graph.features(2).value, (std::vector<float>{98, 1}))
      << "a constant is not divided by 0";
  RawFeatures other;
  other.dense = true, other.columns = {"b"}, other.value = {1, 2, 3};
  expect_error(ErrorKind::BadData, "no column 'a'", [&] { graph.set_features(other, coding); });
  expect_error(ErrorKind::BadData, {"sparse", "dense"}, [&] {
    graph.set_features(sparse_rows({{}, {}, {}}, {"a"}), coding);
  });
  expect_error(ErrorKind::InvalidArgument, "columns", [] {
    fit_features(sparse_rows({{{0, 1}}}, {"a"}), {1}, "columns");
  });
}

TEST(Graph, SurvivesItsTensors) {
  Graph graph = graph_of(4, {{0, 1}, {2, 1}});
  graph.labels = {0, -1, 1, 0};
  const RawFeatures raw = sparse_rows({{{0, 1}}, {}, {{1, 2}}, {{0, 3}}}, {"x", "y"});
  graph.set_features(raw, fit_features(raw, {1, 1, 1, 1}, "none"));
  auto tensors = graph.to_tensors();
  const Graph again = Graph::from_tensors(names(4), false, tensors, "run");
  EXPECT_EQ(again.labels, graph.labels);
  EXPECT_EQ(neighbours(again, 1), neighbours(graph, 1));
  EXPECT_EQ(again.features(3).value, graph.features(3).value);
  EXPECT_EQ(again.find("n2"), 2);
  expect_error(ErrorKind::BadData, {"run", "nodes"},
               [&] { Graph::from_tensors(names(3), false, tensors, "run"); });
  tensors["neighbours"] = tensors["neighbours"] + 4;
  expect_error(ErrorKind::BadData, {"run", "edges"},
               [&] { Graph::from_tensors(names(4), false, tensors, "run"); });
  tensors.erase("neighbours");
  expect_error(ErrorKind::BadData, "missing",
               [&] { Graph::from_tensors(names(4), false, tensors, "run"); });
}

// 0 - 1 - 2 - 3 - 4, and 5 alone
Graph path() {
  return graph_of(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
}

TEST(Subgraph, SortedByDistance) {
  const Subgraph around = k_hop_subgraph(path(), Numbers{2}, {});
  EXPECT_EQ(around.nodes, (Numbers{2, 1, 3, 0, 4}));
  EXPECT_EQ(around.reach, (Numbers{1, 3, 5}));
  EXPECT_EQ(around.begin, (Numbers{0, 3, 6, 9}));
  EXPECT_EQ(around.source, (Numbers{0, 1, 2, /*1:*/ 1, 3, 0, /*3:*/ 2, 0, 4}));
  const Subgraph alone = k_hop_subgraph(path(), Numbers{5}, {});
  EXPECT_EQ(alone.nodes, (Numbers{5}));
  EXPECT_EQ(alone.reach, (Numbers{1, 1, 1}));
  EXPECT_EQ(alone.source, (Numbers{0})) << "it looks at itself";
}

TEST(Subgraph, SharedByAllTargetsInAnyOrder) {
  const Subgraph one = k_hop_subgraph(path(), Numbers{4, 0, 4}, {}),
                 other = k_hop_subgraph(path(), Numbers{0, 4}, {});
  EXPECT_EQ(one.nodes, (Numbers{0, 4, 1, 3, 2}));
  EXPECT_EQ(one.source, other.source);
  NamedTensors tensors;
  one.add_to(tensors);
  const int64_t* out = tensors["out_begin"].data_ptr<int64_t>();
  const int64_t* edges = tensors["out_edge"].data_ptr<int64_t>();
  for (int64_t node = 0; node < 5; ++node)
    for (int64_t place = out[node]; place < out[node + 1]; ++place) {
      EXPECT_EQ(one.source[size_t(edges[place])], node);
      EXPECT_TRUE(place == out[node] || edges[place] > edges[place - 1]);
    }
  EXPECT_EQ(out[5], int64_t(one.source.size()));
}

TEST(Subgraph, NodesThatAreNotThereAreNotSeen) {
  const std::vector<char> seen{1, 0, 1, 1, 1, 1};
  LookOptions options;
  options.seen = &seen;
  EXPECT_EQ(k_hop_subgraph(path(), Numbers{2}, options).nodes, (Numbers{2, 3, 4}));
}

TEST(Subgraph, ANewNodeIsSeenByItsNeighbours) {
  const NewNode stranger{{1, 3}};
  LookOptions options;
  options.stranger = &stranger;
  const Subgraph around = k_hop_subgraph(path(), Numbers{6}, options);
  EXPECT_EQ(around.nodes, (Numbers{6, 1, 3, 0, 2, 4}));
  const auto row = around.row(1);
  EXPECT_EQ(Numbers(row.begin(), row.end()), (Numbers{1, 3, 4, 0})) << "1 looks at 0, 2 and it";
  Graph directed = graph_of(6, {{0, 1}, {1, 2}}, true);
  EXPECT_EQ(k_hop_subgraph(directed, Numbers{6}, options).row(1).size(), 2u) << "an edge one way";
}

TEST(Subgraph, DrawsSomeNeighboursEquallyOften) {
  Edges edges;
  for (int64_t i = 1; i <= 20; ++i) edges.emplace_back(0, i);
  const Graph star = graph_of(21, edges);
  std::vector<int64_t> times(21, 0);
  for (uint64_t draw = 0; draw < 2000; ++draw) {
    LookOptions options;
    options.hops = 1;
    options.neighbours = 5;
    options.random = Random(draw);
    const Subgraph around = k_hop_subgraph(star, Numbers{0}, options);
    ASSERT_EQ(around.nodes.size(), 6u);
    for (size_t i = 1; i < 6; ++i) ++times[size_t(around.nodes[i])];
    EXPECT_EQ(k_hop_subgraph(star, Numbers{0}, options).nodes, around.nodes) << "the same again";
  }
  for (size_t i = 1; i <= 20; ++i) EXPECT_NEAR(double(times[i]), 500, 100) << i;
}

TEST(Subgraph, RefusesNodesThatDoNotExist) {
  expect_error(ErrorKind::InvalidArgument, "no node 6",
               [] { k_hop_subgraph(path(), Numbers{6}, {}); });
  LookOptions options;
  options.hops = 0;
  expect_error(ErrorKind::InvalidArgument, "0 steps",
               [&] { k_hop_subgraph(path(), Numbers{1}, options); });
}

}  // namespace
}  // namespace fovea::graph_test
