// The task graph from its command line's side: built-in data, runs, inputs, answers.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/tensor/torch.h"
#include "tests/support/change_asset.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::graph_test {
namespace {

using namespace testing;

/// A training of a small built-in graph in the folder.
Training trained(const TemporaryFolder& folder, const std::vector<std::string>& more = {},
                 const std::string& name = "run") {
  const Assignments small{"data.nodes=400",     "data.train_each=20", "data.validation_nodes=60",
                          "data.test_nodes=80", "model.hidden=4",     "model.heads=2",
                          "training.epochs=3"};
  return train_run(setup_of("graph", small, more), folder / name);
}

TEST(GraphTask, AttentionFindsTheVoicesAndTheControlDoesNot) {
  const TemporaryFolder folder;
  const std::vector<std::string> settings{"training.epochs=150",   "training.learning_rate=0.02",
                                          "model.dropout=0.2",     "model.attention_dropout=0.2",
                                          "model.value_dropout=0", "data.nodes=1000"};
  std::vector<std::string> control = settings;
  control.push_back("model.attention=uniform");
  const Training learned = trained(folder, settings, "learned"),
                 uniform = trained(folder, control, "uniform");
  EXPECT_GT(metric(learned.validation, "accuracy"), metric(uniform.validation, "accuracy") + 0.05);
  EXPECT_GT(metric(learned.validation, "attention_truth"),
            2 * metric(uniform.validation, "attention_truth"));
}

TEST(GraphTask, ARunAnswersWithoutItsData) {
  const TemporaryFolder folder;
  trained(folder);
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  const auto name = splits.test->input(2).get<std::string>();
  const Example given = pipeline.parse(name), json = pipeline.parse(Json{{"node", name}}.dump()),
                row = splits.test->example(2);
  const auto answers = pipeline.predict(std::vector<Example>{given, json, row});
  EXPECT_TRUE(answers[0].scores.allclose(answers[1].scores));
  EXPECT_TRUE(answers[0].scores.allclose(answers[2].scores));
  const Json answer = pipeline.task().answer(given, answers[0]);
  EXPECT_EQ(answer["scores"].size(), 4u);
  EXPECT_EQ(answer["scores"][answer["class"].get<std::string>()], answer["probability"]);
}

TEST(GraphTask, ANewNodeLikeAnOldOneIsAnsweredLikeIt) {
  const TemporaryFolder folder;
  trained(folder, {"data.directed=yes"});
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  // Nobody looks at a node that has no outgoing edge: a copy of it sees the same.
  std::string name;
  Example known;
  for (int64_t i = 1; i <= 400 && name.empty(); ++i) {
    known = pipeline.parse(concat("n", i));
    const at::Tensor& source = known.tensors.at("edge_source");
    if ((source == 0).sum().item<int64_t>() == 1 && source.size(0) > 3) name = concat("n", i);
  }
  ASSERT_FALSE(name.empty());
  Json input{{"features", Json::object()}, {"neighbours", Json::array()}};
  const Axis &features = known.axis("features"), &neighbours = known.axis("neighbours");
  for (size_t i = 0; i < features.labels.size(); ++i)
    input["features"][features.labels[i]] = std::stod(features.values[i]);
  for (size_t i = 1; i < neighbours.labels.size(); ++i)
    input["neighbours"].push_back(neighbours.labels[i]);
  const Example described = pipeline.parse(input.dump());
  EXPECT_EQ(described.axis("nodes").labels[0], "the new node");
  const auto answers = pipeline.predict(std::vector<Example>{known, described});
  EXPECT_TRUE(answers[0].scores.allclose(answers[1].scores, 1e-3, 1e-4));
  EXPECT_EQ(
      pipeline.predict(std::vector<Example>{pipeline.parse("{\"features\": [\"topic1-1\", 7]}")})
          .size(),
      1u)
      << "without neighbours; a feature that nobody knows says nothing";
}

TEST(GraphTask, NodesMayHaveSeveralLabels) {
  const TemporaryFolder folder;
  const Training training =
      trained(folder, {"data.target_kind=labels", "data.nodes=1000", "training.epochs=150",
                       "training.learning_rate=0.02", "model.dropout=0.2",
                       "model.attention_dropout=0.2", "model.value_dropout=0"});
  EXPECT_GT(metric(training.validation, "micro_f1"), 0.7);
  EXPECT_GT(metric(training.validation, "attention_truth"), 0.4);
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  EXPECT_GT(metric(pipeline.measure(*splits.test), "micro_f1"), 0.65);
  const Example node = pipeline.parse(splits.test->input(0).get<std::string>());
  const auto predictions = pipeline.predict(std::vector<Example>{node});
  const Json answer = pipeline.task().answer(node, predictions[0]);
  EXPECT_EQ(answer["scores"].size(), 4u);
  EXPECT_TRUE(answer["labels"].is_array());
}

TEST(GraphTask, EdgesOfANewNodeMayBeDescribed) {
  const TemporaryFolder folder, data;
  data.write("edges.tsv", "source\ttarget\tweight\na\tb\t1\nb\tc\t3\nc\td\t2\nd\ta\t4\n");
  data.write("features.tsv", "a\tx\nb\ty\nc\tx\nd\ty\n");
  data.write("labels.tsv", "a\tl\nb\tm\nc\tl\nd\tm\n");
  data.write("split.tsv", "a\ttrain\nb\ttrain\nc\tval\nd\ttest\n");
  fovea::Setup setup = setup_of("graph", {"training.epochs=2", "model.score=gatv2"});
  setup.set_source(data.path().string(), {});
  train_run(std::move(setup), folder / "run");
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const auto scores = [&](const std::string& line) {
    return pipeline.predict(std::vector<Example>{pipeline.parse(line)})[0].scores;
  };
  const at::Tensor plain = scores("{\"features\": [\"x\"], \"neighbours\": [\"b\", \"d\"]}");
  EXPECT_TRUE(plain.allclose(scores(
      "{\"features\": [\"x\"], \"neighbours\": [{\"node\": \"b\", \"weight\": 2.5}, \"d\"]}")))
      << "the mean says nothing";
  EXPECT_FALSE(plain.allclose(scores(
      "{\"features\": [\"x\"], \"neighbours\": [{\"node\": \"b\", \"weight\": 9}, \"d\"]}")));
  expect_error(ErrorKind::BadData, {"'wieght'", "weight"}, [&] {
    scores("{\"features\": [\"x\"], \"neighbours\": [{\"node\": \"b\", \"wieght\": 1}]}");
  });
}

TEST(GraphTask, RefusesInputsThatCannotBe) {
  const TemporaryFolder folder;
  trained(folder);
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const auto refuse = [&](const std::string& line, const std::vector<std::string>& words) {
    expect_error(ErrorKind::BadData, words, [&] { pipeline.parse(line); });
  };
  refuse("", {"empty"});
  refuse("nobody", {"no node 'nobody'", "features"});
  refuse("{}", {"neither"});
  refuse("{\"node\": [1]}", {"array"});
  refuse("{\"node\": \"n1\", \"features\": []}", {"leave out"});
  refuse("{\"features\": 3}", {"list"});
  refuse("{\"features\": [[1]]}", {"its name"});
  refuse("{\"features\": {\"topic1-1\": \"x\"}}", {"topic1-1", "number"});
  refuse("{\"features\": {\"topic1-1\": 1e99}}", {"topic1-1", "too large"});
  refuse("{\"features\": [], \"neighbours\": \"n1\"}", {"list of nodes"});
  refuse("{\"features\": [], \"neighbours\": [\"n0\"]}", {"no node 'n0'"});
}

TEST(GraphTask, RefusesABrokenGraph) {
  const TemporaryFolder folder;
  trained(folder);
  Json json = read_json_file(folder.path() / "run" / "assets" / "graph.json");
  json["nodes"].erase(0);
  testing::change_asset(folder.path() / "run", "graph.json", json);
  expect_error(ErrorKind::BadData, {"graph.safetensors", "nodes"},
               [&] { Pipeline::load(folder.path() / "run"); });
}

TEST(GraphTask, TrainsOnSomeNeighboursInBatches) {
  const TemporaryFolder folder;
  const Training sampled =
      trained(folder, {"data.neighbours=2", "training.batch_size=16", "data.setting=inductive"});
  EXPECT_EQ(sampled.result.epochs.back().steps, 15) << "80 rows, 16 a step, 3 epochs";
  EXPECT_TRUE(std::isfinite(metric(sampled.validation, "loss")));
}

TEST(GraphTask, ExplanationsNameNodesAndEdges) {
  const TemporaryFolder folder;
  trained(folder);
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Example example = pipeline.load_data("").test->example(0);
  const Explanation explanation = pipeline.explain(example, Heads::Mean);
  ASSERT_EQ(explanation.maps.size(), 3u) << "two layers, and the neighbours";
  const MapView& edges = explanation.maps[1];
  EXPECT_EQ(edges.layout, MapLayout::Edges);
  EXPECT_EQ(edges.edge_queries.size(), example.axis("neighbours").labels.size());
  EXPECT_EQ(edges.edge_queries[0], edges.edge_keys[0]) << "the self-loop";
  double sum = 0;
  for (const double weight : edges.weights) sum += weight;
  EXPECT_NEAR(sum, 1, 1e-5);
  const MapView& neighbours = explanation.maps[2];
  EXPECT_EQ(neighbours.weights.size(), edges.weights.size());
  for (size_t i = 0; i < edges.weights.size(); ++i)
    EXPECT_NEAR(neighbours.weights[i], edges.weights[i], 1e-6);
  EXPECT_TRUE(explanation.notes.empty()) << explanation.notes[0];
  const auto judged = measure_faithfulness(pipeline, {&example, 1}, {});
  ASSERT_EQ(judged.size(), 1u) << "neighbours stand for the edges";
  EXPECT_EQ(judged[0].map, "neighbours");
}

}  // namespace
}  // namespace fovea::graph_test
