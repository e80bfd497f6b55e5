// What graph attention must do, with every score, for sparse and dense features.
#include "fovea/models/graph_attention.h"

#include <gtest/gtest.h>

#include "fovea/tensor/kernel_path.h"
#include "tests/models/contract.h"
#include "tests/models/graph_batch.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"

namespace fovea::graph_attention_test {
namespace {

using namespace testing;  // contract.h, graph_batch.h

constexpr int64_t kFeatures = 10;
const std::vector<int64_t> kRows{3, 0, 11, 7, 4, 8, 1, 5};

struct Case {
  std::string name, score, attention;
  int64_t layers = 2, output_heads = 1;
  bool sparse = true;
  std::string skip = "none";
  int64_t edges = 0;                         // features of theirs
  std::vector<int64_t> hidden{4}, heads{3};  // of the layers before the last
};

const Case kCases[] = {
    {"gat", "gat", "learned"},
    {"gatv2", "gatv2", "learned"},
    {"uniform", "gat", "uniform"},
    {"gat_dense", "gat", "learned", 2, 3, false},
    {"gatv2_dense", "gatv2", "learned", 2, 3, false},
    {"gat_one_layer", "gat", "learned", 1, 2},
    {"gat_three_layers", "gat", "learned", 3, 2},
    {"gatv2_one_layer", "gatv2", "learned", 1, 2},
    {"gat_skip", "gat", "learned", 3, 2, true, "middle"},
    {"gat_skip_all", "gat", "learned", 2, 2, true, "all"},
    {"gat_skip_sizes", "gat", "learned", 3, 2, false, "middle", 0, {4, 5}, {3, 2}},
    {"gat_edges", "gat", "learned", 2, 2, true, "none", 2},
    {"gatv2_edges", "gatv2", "learned", 2, 1, false, "all", 2}};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

GraphAttentionOptions options_of(const Case& c, double dropout = 0) {
  GraphAttentionOptions options;
  options.score = c.score;
  options.attention = c.attention;
  options.layers = c.layers;
  options.output_heads = c.output_heads;
  options.hidden = c.hidden;
  options.heads = c.heads;
  options.skip = c.skip;
  options.dropout = options.attention_dropout = options.value_dropout = dropout;
  return options;
}

class GraphContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<GraphAttention> fresh(uint64_t seed = 1, double dropout = 0) {
    auto model = std::make_shared<GraphAttention>(options_of(GetParam(), dropout),
                                                  GraphShape{kFeatures, 3, {}, GetParam().edges});
    model->initialise(Random(seed));
    return model;
  }
  Batch rows(const std::vector<int64_t>& picked = kRows, at::ScalarType type = at::kFloat) {
    SmallGraph graph = ring(12, kFeatures);
    graph.edge_features = GetParam().edges;
    return graph_batch(graph, picked, GetParam().layers, GetParam().sparse, type);
  }
};

TEST_P(GraphContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(rows(), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(GraphContract, OverfitsEightExamples) {
  auto model = fresh();
  const Batch batch = rows();
  const double before = loss_of(*model, batch);
  overfit(*model, batch, 0.05, 300);
  // The control cannot choose whom to listen to; it learns all the same.
  EXPECT_LT(loss_of(*model, batch), (GetParam().attention == "uniform" ? 0.5 : 0.2) * before);
}

TEST_P(GraphContract, ReplayEqualsPredict) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch batch = rows();
  const Predictions predictions = model->predict(batch);
  EXPECT_LT(largest_difference(predictions.scores.sum(1), torch::ones({batch.size})), 1e-6);
  const at::Tensor expected = std::get<0>(predictions.scores.max(1, true)).log();
  Tap tap;
  EXPECT_LT(largest_difference(model->replay(batch, predictions, &tap), expected), 1e-5);
  EXPECT_LT(largest_difference(model->replay(batch, predictions, nullptr), expected), 1e-6);
}

TEST_P(GraphContract, KernelsEqualReadableTensorsWithDropout) {
  auto model = fresh(1, 0.4);
  const Batch batch = rows();
  const auto run = [&] {
    model->zero_grad();
    const Loss loss = model->loss(batch, {Random(5), 3});
    loss.objective.backward();
    std::vector<at::Tensor> found{loss.objective.detach().view({1})};
    for (const at::Tensor& parameter : model->parameters())
      found.push_back(parameter.grad().clone());
    return found;
  };
  const std::vector<at::Tensor> fused = run();
  const ReadableOnly readable_only;
  const std::vector<at::Tensor> readable = run();
  for (size_t i = 0; i < fused.size(); ++i)
    EXPECT_LT(largest_difference(fused[i], readable[i]), 1e-5) << i;
}

TEST_P(GraphContract, GradientsEqualFiniteDifferences) {
  auto model = fresh();
  model->to(at::kDouble);
  const Batch batch = rows(kRows, at::kDouble);
  const auto loss = [&] { return model->loss(batch, {Random(1), 0}).objective; };
  EXPECT_LT(gradient_error(loss, model->parameters()), 1e-6);
}

TEST_P(GraphContract, ARowDoesNotDependOnTheOthers) {
  auto model = fresh();
  const Predictions together = model->predict(rows());
  for (size_t i = 0; i < kRows.size(); ++i)
    EXPECT_LT(
        largest_difference(model->predict(rows({kRows[i]})).scores[0], together.scores[int64_t(i)]),
        1e-6)
        << i;
  // Twice the same node, in another order.
  const Predictions again = model->predict(rows({7, 3, 7}));
  EXPECT_LT(largest_difference(again.scores[0], together.scores[3]), 1e-6);
  EXPECT_LT(largest_difference(again.scores[2], together.scores[3]), 1e-6);
}

TEST_P(GraphContract, RecordsWhoLooksAtWhom) {
  auto model = fresh();
  const Batch batch = rows({7, 11, 7});
  Tap tap;
  model->replay(batch, model->predict(batch), &tap);
  ASSERT_EQ(int64_t(tap.maps().size()), GetParam().layers + 1);
  for (int64_t layer = 1; layer <= GetParam().layers; ++layer) {
    const AttentionMap& map = tap.maps()[size_t(layer - 1)];
    EXPECT_EQ(map.name, "attention");
    EXPECT_EQ(map.layer, layer);
    EXPECT_EQ(map.layout, MapLayout::Edges);
    EXPECT_EQ(map.query_axis, "nodes");
    EXPECT_EQ(map.key_axis, "nodes");
    // A node that is asked for twice has its edges there twice.
    if (layer == GetParam().layers) continue;
    EXPECT_EQ(check_map(map), "");
  }
  const AttentionMap& dense = tap.map("neighbours");
  EXPECT_EQ(dense.key_axis, "neighbours");
  const int64_t heads = GetParam().output_heads;
  EXPECT_EQ(dense.weights.sizes(), at::IntArrayRef({3, heads, 1, 4}));  // node 7 has 3 neighbours
  EXPECT_EQ(check_map(dense), "");
  EXPECT_TRUE(dense.weights[0].equal(dense.weights[2]));
  EXPECT_LT(largest_difference(dense.weights[1].select(-1, 0), torch::ones({heads, 1})), 1e-6)
      << "a node without neighbours looks at itself";
  EXPECT_EQ(dense.weights[1].narrow(-1, 1, 3).abs().sum().item<float>(), 0);
}

TEST_P(GraphContract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch batch = rows();
  expect_replaced_map_counts(*model, batch, model->predict(batch), "neighbours");
  Tap plain, other;
  const Predictions predictions = model->predict(batch);
  const at::Tensor before = model->replay(batch, predictions, &plain);
  other.replace("attention", [](const AttentionMap& own) { return own.weights * 2; });
  EXPECT_GT(largest_difference(model->replay(batch, predictions, &other), before), 1e-5);
}

TEST_P(GraphContract, GradientsReachTheNeighbours) {
  auto model = fresh();
  const Batch batch = rows();
  const at::Tensor leaf = expect_leaf(*model, batch, model->predict(batch), "neighbours");
  const at::Tensor reached = leaf.grad().abs().sum(-1) > 0;  // [B, K]
  const at::Tensor begin = batch.at("edge_begin"), node = batch.at("node");
  const at::Tensor degrees = begin.index_select(0, node + 1) - begin.index_select(0, node);
  EXPECT_TRUE(reached.sum(1).equal(degrees)) << "all that is there, and no padding";
}

INSTANTIATE_TEST_SUITE_P(Scores, GraphContract, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

TEST(GraphAttention, EqualsPyTorchsDenseFormula) {
  const Json golden = testing::golden("graph");
  const at::Tensor features = packed(golden["features"]);
  SmallGraph graph{features.size(0), {}, features};
  for (const Json& edge : golden["edges"]) graph.edges.emplace_back(edge[0], edge[1]);
  const auto picked = golden["rows"].get<std::vector<int64_t>>();
  for (const Json& one : golden["cases"])
    for (const bool sparse : {true, false}) {
      const auto score = one["score"].get<std::string>();
      SCOPED_TRACE(score + (sparse ? ", sparse" : ", dense"));
      GraphAttentionOptions options;
      options.score = score == "uniform" ? "gat" : score;
      options.attention = score == "uniform" ? "uniform" : "learned";
      options.heads = {golden["heads"].get<int64_t>()};
      options.hidden = {golden["width"].get<int64_t>()};
      options.output_heads = golden["output_heads"], options.slope = golden["slope"];
      options.dropout = options.attention_dropout = options.value_dropout = 0;
      GraphAttention model(options, {features.size(1), golden["classes"].get<int64_t>()});
      take_parameters(model, one["parameters"]);
      Batch batch = graph_batch(graph, picked, 2, sparse, at::kDouble);
      batch.tensors["target"] = torch::tensor(golden["target"].get<std::vector<int64_t>>());
      const at::Tensor logits = packed(one["logits"]).index_select(0, torch::tensor(picked));
      EXPECT_LT(largest_difference(model.predict(batch).scores, logits.softmax(1)), 1e-10);
      expect_loss_of(model, batch, one);

      // All nodes at once: every edge's weight is that of the dense matrix.
      std::vector<int64_t> everybody;
      for (int64_t i = 0; i < graph.nodes; ++i) everybody.push_back(i);
      const Batch whole = graph_batch(graph, everybody, 2, sparse, at::kDouble);
      Tap tap;
      model.replay(whole, model.predict(whole), &tap);
      for (size_t layer = 0; layer < 2; ++layer) {
        const AttentionMap& map = tap.maps()[layer];
        const at::Tensor dense = packed(one["weights"][layer]);  // [H, N, N]
        const at::Tensor expected =
            dense.flatten(1).index_select(1, map.index[0] * graph.nodes + map.index[1]).t();
        EXPECT_EQ(map.weights.size(0), graph.nodes + 2 * int64_t(graph.edges.size()));
        EXPECT_LT(largest_difference(map.weights, expected), 1e-10) << layer;
      }
    }
}

TEST(GraphAttention, SeveralLabelsAreEachYesOrNo) {
  GraphAttentionOptions options = options_of(kCases[0]);
  GraphShape shape{kFeatures, 3, {2, 4, 1}};
  shape.kind = AnswerKind::Labels;
  shape.rows = 8;
  GraphAttention model(options, shape);
  model.initialise(Random(1));
  Batch batch = graph_batch(ring(12, kFeatures), kRows, 2);
  const at::Tensor number = torch::arange(8);
  batch.tensors["target"] =
      at::stack({number % 2, number / 4, torch::zeros_like(number)}, 1).to(at::kFloat);
  const double before = loss_of(model, batch);
  overfit(model, batch, 0.05, 300);
  EXPECT_LT(loss_of(model, batch), 0.3 * before);
  const at::Tensor scores = model.predict(batch).scores;
  const at::Tensor right = scores.ge(0.5).eq(batch.at("target").to(at::kBool));
  EXPECT_GE(right.sum().item<int64_t>(), 22) << "of 24";
  EXPECT_GT((scores.sum(1) - 1).abs().max().item<double>(), 0.1) << "they do not share 1";
  const at::Tensor best = std::get<0>(scores.max(1, true)).log();
  EXPECT_LT(largest_difference(model.replay(batch, model.predict(batch), nullptr), best), 1e-5);
  options.class_weights = "balanced";
  GraphAttention balanced(options, shape);
  balanced.initialise(Random(1));
  GraphAttention plain(options_of(kCases[0]), shape);
  plain.initialise(Random(1));
  EXPECT_GT(std::abs(loss_of(balanced, batch) - loss_of(plain, batch)), 1e-3);
}

TEST(GraphAttention, LayersHaveSizesOfTheirOwn) {
  GraphAttentionOptions options;
  options.layers = 3, options.hidden = {256}, options.heads = {4, 4}, options.output_heads = 6;
  options.skip = "middle";
  const GraphAttention model(options, GraphShape{50, 121});
  const std::vector<LayerSummary> rows = model.summary();
  EXPECT_EQ(rows[1].output_shape, (std::vector<int64_t>{1024}));
  EXPECT_EQ(rows[2].output_shape, (std::vector<int64_t>{1024}));
  EXPECT_NE(rows[2].layer.find("skip"), std::string::npos);
  EXPECT_EQ(rows[1].layer.find("skip"), std::string::npos);
  // PPI's layer 2: W 1024 x 1024, a and b 4 x 256, a bias, and a skip connection without weights.
  EXPECT_EQ(rows[2].parameters, 1024 * 1024 + 2 * 1024 + 1024);
  options.heads = {4, 4, 6};
  expect_error(ErrorKind::InvalidArgument, {"model.heads has 3 numbers", "2 layers"}, [&] {
    GraphAttention(options, {50, 121});
  });
  options.heads = {4}, options.layers = 2;
  expect_error(ErrorKind::InvalidArgument, {"model.skip=middle"}, [&] {
    GraphAttention(options, {50, 121});
  });
}

TEST(GraphAttention, RefusesWhatCannotBe) {
  GraphAttention model({}, {kFeatures, 3});
  model.initialise(Random(1));
  expect_error(ErrorKind::InvalidArgument, {"1 steps", "2 layers"},
               [&] { model.predict(graph_batch(ring(12, kFeatures), {1}, 1)); });
  expect_error(ErrorKind::InvalidArgument, "two classes", [] {
    GraphAttention({}, {kFeatures, 1});
  });
}

TEST(GraphAttention, DecayLeavesBiasesAlone) {
  const GraphAttention model({}, {kFeatures, 3});
  EXPECT_FALSE(model.rule_of("layers.0.bias").decays);
  EXPECT_TRUE(model.rule_of("layers.0.weight").decays);
  EXPECT_TRUE(model.rule_of("layers.1.to_target").decays);
}

}  // namespace
}  // namespace fovea::graph_attention_test
