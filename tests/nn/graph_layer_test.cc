#include "fovea/nn/graph/graph_layer.h"

#include <gtest/gtest.h>

#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"
#include "tests/models/graph_batch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"

namespace fovea::graph_layer_test {
namespace {

using at::Tensor;
using namespace testing;

TEST(EdgeSoftmax, EqualsSoftmaxOfEachTarget) {
  GraphEdges edges;
  edges.targets = 4, edges.count = 5;
  edges.begin = torch::tensor({0, 3, 3, 5, 5}, at::kLong);  // two targets without edges
  edges.target = torch::tensor({0, 0, 0, 2, 2}, at::kLong);
  const Tensor scores = torch::tensor(
      {{1.0, 5.0}, {2.0, 900.0}, {-3.0, 5.0}, {0.0, -900.0}, {0.5, -900.0}}, at::kFloat);
  const Tensor weights = edge_softmax(scores, edges);
  EXPECT_LT(largest_difference(weights.narrow(0, 0, 3), scores.narrow(0, 0, 3).softmax(0)), 1e-6);
  EXPECT_LT(largest_difference(weights.narrow(0, 3, 2), scores.narrow(0, 3, 2).softmax(0)), 1e-6);
}

TEST(DropoutOfElements, IsDropoutWithoutWaste) {
  const Tensor ones = torch::ones({1000, 3});
  const Tensor dropped = dropout_of_elements(ones, 0.6, Random(1));
  EXPECT_EQ(dropped.sizes(), ones.sizes());
  EXPECT_NEAR(dropped.mean().item<double>(), 1, 0.06);
  EXPECT_TRUE(((dropped == 0) | (dropped == float(1 / 0.4))).all().item<bool>());
  EXPECT_TRUE(dropped.equal(dropout_of_elements(ones, 0.6, Random(1))));
  EXPECT_FALSE(dropped.equal(dropout_of_elements(ones, 0.6, Random(2))));
  EXPECT_LT(largest_difference(dropped, dropout_of_elements(ones.to(at::kDouble), 0.6, Random(1))),
            1e-6)
      << "the same ones in double precision";
}

TEST(NodeFeatures, SparseEqualsDense) {
  const auto graph = ring(12, 10);
  const Batch sparse = graph_batch(graph, {3, 11, 5}, 2, true),
              dense = graph_batch(graph, {3, 11, 5}, 2, false);
  const NodeFeatures few = NodeFeatures::of(sparse), all = NodeFeatures::of(dense);
  const Tensor weight = Random(3).normal_tensor({10, 7}, 0, 1, at::kFloat).requires_grad_();
  const Tensor expected = at::mm(all.dense, weight);
  const Tensor own = torch::tensor({4, 0, 4, 2}, at::kLong);
  const auto check = [&] {
    EXPECT_LT(largest_difference(few.times(weight), expected), 1e-6);
    EXPECT_LT(largest_difference(few.rows(3).times(weight), expected.narrow(0, 0, 3)), 1e-6);
    EXPECT_LT(largest_difference(few.rows(4, own).times(weight), expected.index_select(0, own)),
              1e-6);
    const auto gradient = torch::autograd::grad({few.times(weight).square().sum()}, {weight})[0];
    const auto wanted =
        torch::autograd::grad({at::mm(all.dense, weight).square().sum()}, {weight})[0];
    EXPECT_LT(largest_difference(gradient, wanted), 1e-4);
  };
  check();
  const ReadableOnly readable_only;
  check();
}

TEST(GraphBlock, LayersShareOneListOfEdges) {
  const auto graph = ring(12, 4);
  const Batch batch = graph_batch(graph, {0, 11}, 3);
  const GraphBlock block(batch, 3);
  int64_t before = block.nodes();
  for (int64_t layer = 1; layer <= 3; ++layer) {
    const GraphEdges edges = block.edges(layer);
    EXPECT_EQ(edges.sources, before);
    EXPECT_LT(edges.sources_of_edges().max().item<int64_t>(), edges.sources);
    EXPECT_EQ(edges.targets_of_edges().max().item<int64_t>(), edges.targets - 1);
    EXPECT_EQ(edges.begin[edges.targets].item<int64_t>(), edges.count);
    before = edges.targets;
  }
  EXPECT_EQ(before, 2);
}

TEST(GraphEdges, RowsOfSomeTargets) {
  const auto graph = ring(12, 4);
  const GraphEdges edges = GraphBlock(graph_batch(graph, {0, 11, 4}, 1), 1).edges(1);
  const Tensor node = torch::tensor({2, 1, 2}, at::kLong);
  const GraphEdges rows = edges.of_rows(node);
  EXPECT_EQ(rows.targets, 3);
  for (int64_t row = 0; row < 3; ++row) {
    const int64_t own = node[row].item<int64_t>();
    const auto slice = [](const GraphEdges& some, int64_t target) {
      const int64_t begin = some.begin[target].item<int64_t>();
      return some.source.narrow(0, begin, some.begin[target + 1].item<int64_t>() - begin);
    };
    EXPECT_TRUE(slice(rows, row).equal(slice(edges, own)));
  }
  EXPECT_TRUE(rows.index()[0].equal(node.index_select(0, rows.target)));
}

TEST(GraphLayer, HasTheSameBitsAtAnyNumberOfThreads) {
  const auto graph = ring(300, 10);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < 300; ++i) rows.push_back(i);
  const Batch batch = graph_batch(graph, rows, 1);
  GraphLayerOptions options;
  options.inputs = 10, options.heads = 8, options.attention_dropout = 0.3;
  for (const char* score : {"gat", "gatv2", "uniform"}) {
    options.score = score;
    GraphLayer layer(options);
    layer.initialise(Random(2));
    const auto run = [&](int64_t threads) {
      set_threads(threads);
      const Random random(7);
      const Tensor out =
          layer.forward(NodeFeatures::of(batch), GraphBlock(batch, 1).edges(1), &random);
      std::vector<Tensor> found = torch::autograd::grad({out.square().sum()}, layer.parameters());
      found.push_back(out.detach());
      return found;
    };
    const std::vector<Tensor> one = run(1), two = run(2);
    set_threads(1);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].equal(two[i])) << score << i;
  }
}

TEST(GraphLayer, KeepsNothingOfTheSizeOfAllPairs) {
  // 20,000 nodes: all pairs would be 1.6 GB a head.
  const int64_t nodes = 20000;
  Batch batch{{}, nodes};
  const Tensor all = torch::arange(nodes);
  batch.tensors = {{"reach", torch::tensor({nodes, nodes})},
                   {"edge_begin", torch::arange(nodes + 1) * 2},
                   {"edge_source", at::stack({all, (all + 1) % nodes}, 1).flatten()},
                   {"edge_target", at::stack({all, all}, 1).flatten()},
                   {"out_begin", torch::arange(nodes + 1) * 2}};
  batch.tensors["out_edge"] =
      std::get<0>(at::stack({all * 2, ((all + nodes - 1) % nodes) * 2 + 1}, 1).sort(1)).flatten();
  for (const bool readable : {false, true}) {
    GraphLayerOptions options;
    options.inputs = 4, options.heads = 8;
    GraphLayer layer(options);
    layer.initialise(Random(1));
    std::optional<ReadableOnly> readable_only;
    if (readable) readable_only.emplace();
    const NodeFeatures x{torch::ones({nodes, 4}), {}, {}, {}};
    const Tensor out = layer.forward(x, GraphBlock(batch, 1).edges(1));
    out.sum().backward();
    EXPECT_EQ(out.size(0), nodes);
  }
}

TEST(GraphLayer, SkipConnectionsAddTheInput) {
  const auto graph = ring(12, 10);
  for (const bool sparse : {true, false}) {
    const Batch batch = graph_batch(graph, {3, 0, 11}, 1, sparse);
    const NodeFeatures x = NodeFeatures::of(batch);
    const GraphEdges edges = GraphBlock(batch, 1).edges(1);
    GraphLayerOptions options;
    options.inputs = 10, options.heads = 2, options.width = 5;
    GraphLayer plain(options);
    plain.initialise(Random(2));
    options.skip = "projection";
    GraphLayer projected(options);
    projected.initialise(Random(2));
    const Tensor weight = projected.named_parameters()["skip_weight"];
    EXPECT_LT(largest_difference(projected.forward(x, edges),
                                 plain.forward(x, edges) + x.rows(3).times(weight)),
              1e-5);
    if (sparse) continue;
    options.skip = "identity";
    GraphLayer skip(options);
    skip.initialise(Random(2));
    EXPECT_LT(largest_difference(skip.forward(x, edges),
                                 plain.forward(x, edges) + x.dense.narrow(0, 0, 3)),
              1e-6);
  }
  GraphLayerOptions options;
  options.inputs = 10, options.heads = 2, options.width = 4, options.skip = "identity";
  expect_error(ErrorKind::InvalidArgument, {"10 inputs and 8 outputs"},
               [&] { GraphLayer layer(options); });
}

TEST(GraphLayer, FeaturesOfEdgesEnterTheScores) {
  auto graph = ring(12, 10);
  graph.edge_features = 2;
  const Batch batch = graph_batch(graph, {3, 0, 11}, 1, false, at::kDouble);
  const NodeFeatures x = NodeFeatures::of(batch);
  const GraphEdges edges = GraphBlock(batch, 1).edges(1);
  for (const char* score : {"gat", "gatv2"}) {
    GraphLayerOptions options;
    options.inputs = 10, options.heads = 1, options.width = 5, options.edge_features = 2;
    options.score = score;
    GraphLayer layer(options);
    layer.initialise(Random(2));
    layer.to(at::kDouble);
    const auto own = layer.named_parameters();
    const Tensor z = x.dense.mm(own["weight"]), u = own["edge_weight"], a = own["to_target"][0];
    const Tensor known = batch.at("edge_features");
    for (int64_t target = 0; target < 3; ++target) {
      const int64_t begin = edges.begin[target].item<int64_t>(),
                    end = edges.begin[target + 1].item<int64_t>();
      std::vector<Tensor> scores, values;
      for (int64_t e = begin; e < end; ++e) {
        const Tensor key = z[edges.source[e].item<int64_t>()];
        const Tensor added = u.mv(known[e]);  // of gat one number, of gatv2 five
        values.push_back(key);
        scores.push_back(
            options.score == "gat"
                ? at::leaky_relu(a.dot(z[target]) + own["to_source"][0].dot(key) + added[0], 0.2)
                : a.dot(at::leaky_relu(x.dense[target].matmul(own["query_weight"]) + key + added,
                                       0.2)));
      }
      const Tensor expected = at::stack(scores).softmax(0).matmul(at::stack(values));
      EXPECT_LT(largest_difference(layer.forward(x, edges)[target], expected), 1e-10) << score;
    }
  }
  GraphLayerOptions options;
  options.inputs = 10, options.edge_features = 3;
  GraphLayer layer(options);
  expect_error(ErrorKind::InvalidArgument, {"2 features of edges", "knows 3"},
               [&] { layer.to(at::kDouble), layer.forward(x, edges); });
}

TEST(GraphLayer, RefusesUnknownScores) {
  GraphLayerOptions options;
  options.inputs = 4, options.score = "gta";
  expect_error(ErrorKind::InvalidArgument, {"gta", "gatv2"}, [&] { GraphLayer layer(options); });
}

}  // namespace
}  // namespace fovea::graph_layer_test
