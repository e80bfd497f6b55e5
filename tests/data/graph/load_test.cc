#include "fovea/data/graph/load.h"

#include <ATen/ATen.h>

#include <set>

#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::graph::load_test {
namespace {

GraphDataOptions small() {
  GraphDataOptions options;
  options.generator.nodes = 200;
  options.generator.train_each = 5;
  options.generator.validation_nodes = 20;
  options.generator.test_nodes = 30;
  return options;
}

DataSource folder_source(const std::filesystem::path& path) {
  return {path, {}};
}

const NodeDataset& nodes_of(const std::shared_ptr<Dataset>& rows) {
  return dynamic_cast<const NodeDataset&>(*rows);
}

std::vector<int64_t> all_rows(const Dataset& rows) {
  std::vector<int64_t> all;
  for (int64_t row = 0; row < rows.size(); ++row) all.push_back(row);
  return all;
}

TEST(GraphData, TheWrittenGraphIsTheBuiltInOne) {
  const TemporaryFolder folder;
  write_graph_data(folder.path(), small());
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"dataset.json", "edges.tsv", "features.tsv",
                                                      "labels.tsv", "split.tsv"}));
  KnownGraph built_in, read;
  const Splits one = load_graph({}, small(), 2, built_in, 1),
               other = load_graph(folder_source(folder.path()), small(), 2, read, 1);
  EXPECT_EQ(built_in.coding->to_json(), read.coding->to_json());
  expect_same_splits(one, other);
}

TEST(GraphData, VoicesInformAndEchoesAreAskedFor) {
  const ReadGraph graph = draw_graph(small().generator);
  const std::set<std::string> voices(graph.informative.begin(), graph.informative.end());
  EXPECT_GT(voices.size(), 30u);
  for (const auto& [source, target] : graph.edges) {
    if (!voices.contains(graph.names[size_t(source)])) continue;
    EXPECT_EQ(graph.labels[size_t(source)], graph.labels[size_t(target)])
        << "a voice is joined to its own community alone";
  }
  for (size_t node = 0; node < graph.names.size(); ++node)
    EXPECT_TRUE(graph.splits[node] < 0 || !voices.contains(graph.names[node]));
  SyntheticGraphOptions few = small().generator;
  few.test_nodes = 1000;
  expect_error(ErrorKind::InvalidArgument, "data.nodes", [&] { draw_graph(few); });
}

TEST(GraphData, ABatchEqualsItsExamples) {
  KnownGraph known;
  const Splits splits = load_graph({}, small(), 2, known, 1);
  const NodeDataset& rows = nodes_of(splits.validation);
  const Example example = rows.example(4);
  const auto neighbours = example.axis("neighbours").labels, nodes = example.axis("nodes").labels;
  EXPECT_EQ(nodes[0], rows.name(4));
  EXPECT_EQ(neighbours[0], rows.name(4) + " (itself)");
  EXPECT_EQ(example.tensors.at("reach")[1].item<int64_t>(), int64_t(neighbours.size()));
  for (size_t i = 1; i < neighbours.size(); ++i) EXPECT_EQ(neighbours[i], nodes[i]);
  EXPECT_EQ(example.truth.at("neighbours").sizes(),
            at::IntArrayRef({1, int64_t(neighbours.size())}));
  // A single row sees what its example sees, in the same order.
  const int64_t row = 4;
  const Batch alone = rows.batch({&row, 1}), collated = known.encoder(2).collate({&example, 1});
  for (const char* name : {"reach", "edge_begin", "edge_source", "feature_value", "target"})
    EXPECT_TRUE(alone.at(name).equal(collated.at(name))) << name;
}

TEST(GraphData, AFullBatchDependsOnTheOrderOfItsRowsOnlyInItsAnswers) {
  KnownGraph known;
  const Splits splits = load_graph({}, small(), 2, known, 1);
  const std::vector<int64_t> up = all_rows(*splits.train), down(up.rbegin(), up.rend());
  const Batch one = splits.train->batch(up), other = splits.train->batch(down);
  EXPECT_TRUE(one.at("edge_source").equal(other.at("edge_source")));
  EXPECT_TRUE(one.at("node").flip(0).equal(other.at("node")));
  EXPECT_TRUE(one.at("target").flip(0).equal(other.at("target")));
  const std::vector<int64_t> part{3, 1};
  const Batch few = splits.train->batch(part);
  EXPECT_EQ(few.at("target")[0].item<int64_t>(), one.at("target")[3].item<int64_t>());
  EXPECT_LT(few.at("edge_source").size(0), one.at("edge_source").size(0));
}

TEST(GraphData, InductiveTrainingSeesNoNodeThatItWillBeMeasuredOn) {
  GraphDataOptions options = small();
  options.setting = "inductive";
  KnownGraph known;
  const Splits splits = load_graph({}, options, 2, known, 1);
  std::set<std::string> hidden;
  for (const auto& rows : {splits.validation, splits.test})
    for (int64_t row = 0; row < rows->size(); ++row) hidden.insert(nodes_of(rows).name(row));
  const auto seen_from = [](const Dataset& rows) {
    std::set<std::string> names;
    for (int64_t row = 0; row < rows.size(); ++row) {
      const Example example = rows.example(row);
      names.insert(example.axis("nodes").labels.begin(), example.axis("nodes").labels.end());
    }
    return names;
  };
  for (const std::string& name : seen_from(*splits.train)) EXPECT_FALSE(hidden.contains(name));
  bool sees_validation = false;
  for (int64_t row = 0; row < splits.validation->size(); ++row)
    sees_validation |= seen_from(*splits.test).contains(nodes_of(splits.validation).name(row));
  EXPECT_TRUE(sees_validation);
}

TEST(GraphData, DrawnNeighboursDependOnTheRowsAndTheirOrder) {
  GraphDataOptions options = small();
  options.neighbours = 2;
  KnownGraph known;
  const Splits splits = load_graph({}, options, 2, known, 1);
  const std::vector<int64_t> up = all_rows(*splits.train), down(up.rbegin(), up.rend());
  const auto edges = [&](const std::vector<int64_t>& rows) {
    return nodes_of(splits.train).augmented_batch(rows, Random(1)).at("edge_source");
  };
  EXPECT_TRUE(edges(up).equal(edges(up)));
  EXPECT_FALSE(edges(up).equal(edges(down)));
  const at::Tensor begin = nodes_of(splits.train).augmented_batch(up, Random(1)).at("edge_begin");
  EXPECT_LE((begin.narrow(0, 1, begin.size(0) - 1) - begin.narrow(0, 0, begin.size(0) - 1))
                .max()
                .item<int64_t>(),
            3)
      << "itself and two others";
  EXPECT_GT(splits.train->batch(up).at("edge_source").size(0), edges(up).size(0))
      << "what is measured looks at everything";
  const std::vector<int64_t> few{1, 0};
  expect_same_tensors(nodes_of(splits.validation).augmented_batch(few, Random(1)).tensors,
                      splits.validation->batch(few).tensors);
}

TEST(GraphData, ErasedUnitsAreGone) {
  KnownGraph known;
  const Splits splits = load_graph({}, small(), 2, known, 1);
  const NodeEncoder encoder = known.encoder(2);
  const Example example = splits.test->example(0);
  const auto edges = [](const Example& one) { return one.tensors.at("edge_source").size(0); };
  const std::vector<int64_t> second{1};
  const Example edge = encoder.erase(example, "neighbours", second);
  EXPECT_EQ(edges(edge), edges(example) - 1) << "one edge";
  const Example node = encoder.erase(example, "nodes", second);
  EXPECT_LT(edges(node), edges(edge)) << "all edges of a node";
  EXPECT_FALSE((node.tensors.at("edge_source") == 1).any().item<bool>());
  const Example feature = encoder.erase(example, "features", second);
  EXPECT_EQ(feature.tensors.at("feature_value")[1].item<float>(), 0);
  EXPECT_GT(example.tensors.at("feature_value")[1].item<float>(), 0) << "a copy was changed";
  EXPECT_EQ(edges(feature), edges(example));
  const std::vector<int64_t> own{0};
  const int64_t features = example.tensors.at("feature_begin")[1].item<int64_t>();
  EXPECT_EQ(encoder.erase(example, "nodes", own)
                .tensors.at("feature_value")
                .narrow(0, 0, features)
                .abs()
                .sum()
                .item<float>(),
            0);
  expect_error(ErrorKind::Unsupported, "columns", [&] { encoder.erase(example, "columns", own); });
}

TEST(GraphData, NodesMayHaveSeveralLabels) {
  GraphDataOptions options = small();
  options.scaling = "none";
  const auto load = [&](const std::string& labels, KnownGraph& known) {
    const TemporaryFolder folder;
    folder.write("edges.tsv", "a\tb\nb\tc\n");
    folder.write("labels.tsv", labels);
    folder.write("split.tsv", "a\ttrain\nb\ttrain\nc\ttest\n");
    return load_graph(folder_source(folder.path()), options, 1, known, 1);
  };
  const at::Tensor expected = at::tensor({1, 1, 0, 0, 1, 0}, at::kFloat).view({2, 3});
  for (const char* labels : {"node\tlabels\na\tx|y\nb\ty\nc\tz|x\n",
                             "node\tx\ty\tz\na\t1\t1\t0\nb\t0\t1\t0\nc\t1\t0\t1\n"}) {
    KnownGraph known;
    const Splits splits = load(labels, known);
    EXPECT_EQ(known.coding->kind, AnswerKind::Labels) << labels;
    EXPECT_EQ(known.coding->classes, (std::vector<std::string>{"x", "y", "z"}));
    EXPECT_EQ(known.coding->class_counts, (std::vector<int64_t>{1, 2, 0}));
    EXPECT_EQ(known.coding->rows, 2);
    const std::vector<int64_t> both{0, 1};
    EXPECT_TRUE(splits.train->batch(both).at("target").equal(expected));
    EXPECT_EQ(splits.test->example(0).axis("nodes").values[0], "x|z");
    const GraphCoding back = GraphCoding::from_json(known.coding->to_json(), "graph.json");
    EXPECT_EQ(back.to_json(), known.coding->to_json());
    const Graph again = Graph::from_tensors({"a", "b", "c"}, false, known.graph->to_tensors(), "t");
    EXPECT_EQ(again.label_sets, known.graph->label_sets);
    const Splits other = load("node\tlabels\na\tx\nb\t\nc\ty;x\n", known);
    EXPECT_TRUE(other.train->batch(both).at("target")[1].equal(at::zeros({3})))
        << "none of several labels is an answer";
    EXPECT_TRUE(other.test->example(0).tensors.at("target").equal(at::tensor({1.0f, 1.0f, 0.0f})));
  }
  KnownGraph one;
  load("node\tlabels\na\tx|y\nb\tz\nc\tz\n", one);
  EXPECT_EQ(one.coding->kind, AnswerKind::Class) << "no part of 'x|y' stands anywhere else";
  options.target.target_kind = "labels";
  KnownGraph asked;
  load("a\tx|y\nb\tz\nc\tz\n", asked);
  EXPECT_EQ(asked.coding->classes, (std::vector<std::string>{"x", "y", "z"}));
}

TEST(GraphData, BuiltInLabelsAreWrittenAndRead) {
  GraphDataOptions options = small();
  options.target.target_kind = "labels";
  const TemporaryFolder folder;
  write_graph_data(folder.path(), options);
  KnownGraph built_in, read;
  const Splits one = load_graph({}, options, 2, built_in, 1);
  options.target.target_kind = "auto";
  const Splits other = load_graph(folder_source(folder.path()), options, 2, read, 1);
  EXPECT_EQ(read.coding->kind, AnswerKind::Labels);
  EXPECT_EQ(built_in.coding->classes, read.coding->classes);
  expect_same_tensors(one.train->batch(all_rows(*one.train)).tensors,
                      other.train->batch(all_rows(*other.train)).tensors);
  const at::Tensor each = one.train->batch(all_rows(*one.train)).at("target").sum(1);
  EXPECT_EQ(each.min().item<float>(), 1);
  EXPECT_EQ(each.max().item<float>(), 2) << "some belong to two communities";
}

TEST(GraphData, EdgesHaveFeatures) {
  const TemporaryFolder folder;
  folder.write("edges.tsv", "source\ttarget\tweight\tage\na\tb\t1\t0\nb\tc\t3\t2\nb\ta\t9\t9\n");
  folder.write("labels.tsv", "a\tx\nb\ty\nc\tx\n");
  folder.write("split.tsv", "a\ttrain\nb\ttrain\nc\ttest\n");
  KnownGraph known;
  const Splits splits = load_graph(folder_source(folder.path()), small(), 1, known, 1);
  const EdgeCoding& edges = known.coding->edges;
  EXPECT_EQ(edges.columns, (std::vector<std::string>{"weight", "age"}));
  EXPECT_NEAR(edges.means[0], 13.0 / 3, 1e-9);
  const Example b = splits.train->example(1);  // itself, a, c
  const at::Tensor own = b.tensors.at("edge_features");
  ASSERT_EQ(own.sizes(), at::IntArrayRef({3, 2}));
  EXPECT_EQ(own[0].abs().sum().item<float>(), 0) << "nothing is known of how it looks at itself";
  EXPECT_EQ(own[1][0].item<float>(), edges.scaled(1, 0)) << "the first edge of two nodes counts";
  EXPECT_EQ(own[2][1].item<float>(), edges.scaled(2, 1));
  const Example a = splits.train->example(0);
  EXPECT_EQ(a.tensors.at("edge_features")[1][0].item<float>(), edges.scaled(1, 0))
      << "the same both ways";
  const NodeEncoder encoder = known.encoder(1);
  const Example without = encoder.erase(b, "neighbours", std::vector<int64_t>{1});
  EXPECT_TRUE(without.tensors.at("edge_features")[1].equal(own[2])) << "they go with their edge";
  const std::vector<Example> examples{b, a};
  const Batch batch = encoder.collate(examples);
  EXPECT_EQ(batch.at("edge_features").size(0), batch.at("edge_source").size(0));
  EXPECT_TRUE(batch.at("edge_features").narrow(0, 0, 3).equal(own));
  const Graph again = Graph::from_tensors({"a", "b", "c"}, false, known.graph->to_tensors(), "t");
  EXPECT_EQ(again.edge_width(), 2);
  EXPECT_EQ(again.edge_features(1, 1)[0], edges.scaled(3, 0));
  DescribedNode stranger{b.tensors.contains("features") ? FeatureRow{} : FeatureRow{{0}, {1}}, {1}};
  stranger.edges = {0.5f, -2};
  EXPECT_EQ(encoder.example(stranger).tensors.at("edge_features")[1][1].item<float>(), -2);
  folder.write("edges.tsv", "a\tb\nb\tc\n");
  expect_error(ErrorKind::BadData, {"no column 'weight'"},
               [&] { load_graph(folder_source(folder.path()), small(), 1, known, 1); });
}

TEST(GraphData, WhatIsOddIsNoted) {
  const TemporaryFolder folder;
  folder.write("edges.tsv", "a\ta\na\tb\nb\ta\nc\tb\n");
  folder.write("features.tsv", "a\t1\nb\t2\nc\t1\nd\t2 3\ne\t1\n");
  folder.write("labels.tsv", "a\tx\nb\ty\nc\tx\nd\ty\n");
  folder.write("split.tsv", "a\ttrain\nb\ttrain\nc\tval\nd\ttest\n");
  KnownGraph known;
  const Splits splits = load_graph(folder_source(folder.path()), {}, 2, known, 1);
  EXPECT_TRUE(has_note(splits.notes, "1 self-loops"));
  EXPECT_TRUE(has_note(splits.notes, "1 edges that were there already"));
  EXPECT_TRUE(has_note(splits.notes, "2 nodes have no edge"));
  EXPECT_TRUE(has_note(splits.notes, "5 nodes, 2 edges, 3 sparse features"));
  EXPECT_EQ(splits.test->example(0).axis("neighbours").labels.size(), 1u) << "itself alone";
  // Another graph, for the same network: new features are left out, the rest goes by name.
  const TemporaryFolder another;
  another.write("edges.tsv", "p\tq\n");
  another.write("features.tsv", "p\t9 2\nq\t1\n");
  another.write("labels.tsv", "p\ty\n");
  DataSource source = folder_source(another.path());
  source.whole = true;
  const Splits other = load_graph(source, {}, 2, known, 1);
  EXPECT_EQ(other.train, nullptr);
  ASSERT_EQ(other.test->size(), 1);
  EXPECT_TRUE(has_note(other.notes, "1 features that training does not know"));
  EXPECT_EQ(other.test->example(0).tensors.at("feature_index")[0].item<int64_t>(), 1);
  EXPECT_EQ(known.graph->size(), 5) << "questions are still answered from the first";
  another.write("labels.tsv", "p\tz\n");
  expect_error(ErrorKind::BadData, {"'z'", "does not know"},
               [&] { load_graph(source, {}, 2, known, 1); });
}

TEST(GraphData, WithoutASplitFileTheSeedDecides) {
  const TemporaryFolder folder;
  write_graph_data(folder.path(), small());
  std::filesystem::remove(folder / "split.tsv");
  KnownGraph known, again;
  const Splits one = load_graph(folder_source(folder.path()), {}, 2, known, 1),
               other = load_graph(folder_source(folder.path()), {}, 2, again, 2);
  EXPECT_EQ(one.train->size(), 120);
  EXPECT_EQ(one.validation->size(), 40);
  EXPECT_EQ(one.test->size(), 40);
  EXPECT_NE(nodes_of(one.test).name(0) + nodes_of(one.test).name(1),
            nodes_of(other.test).name(0) + nodes_of(other.test).name(1));
}

TEST(GraphData, WithoutFeaturesEveryNodeIsItsOwn) {
  const TemporaryFolder folder;
  folder.write("edges.tsv", "a\tb\nb\tc\n");
  folder.write("labels.tsv", "a\tx\nb\ty\nc\tx\n");
  folder.write("split.tsv", "a\ttrain\nb\ttrain\nc\tval\n");
  KnownGraph known;
  load_graph(folder_source(folder.path()), {}, 2, known, 1);
  EXPECT_EQ(known.coding->features.width(), 3);
  GraphDataOptions inductive;
  inductive.setting = "inductive";
  KnownGraph other;
  expect_error(ErrorKind::InvalidArgument, "inductive",
               [&] { load_graph(folder_source(folder.path()), inductive, 2, other, 1); });
}

TEST(GraphData, RefusesWhatCannotBeLearnedFrom) {
  const TemporaryFolder folder;
  folder.write("edges.tsv", "a\tb\n");
  folder.write("features.tsv", "a\t1\nb\t2\n");
  folder.write("labels.tsv", "a\tx\n");
  folder.write("split.tsv", "a\ttrain\nb\ttrain\n");
  KnownGraph known;
  expect_error(ErrorKind::BadData, {"'b'", "no class"},
               [&] { load_graph(folder_source(folder.path()), {}, 2, known, 1); });
  folder.write("labels.tsv", "a\tx\nb\tx\n");
  expect_error(ErrorKind::BadData, "at least 2",
               [&] { load_graph(folder_source(folder.path()), {}, 2, known, 1); });
  folder.write("labels.tsv", "a\tx\nb\ty\n");
  folder.write("split.tsv", "a\tval\nb\ttest\n");
  expect_error(ErrorKind::BadData, "for training",
               [&] { load_graph(folder_source(folder.path()), {}, 2, known, 1); });
  folder.write("dataset.json",
               "{\"format\": \"fovea-dataset\", \"version\": 1, \"task\": \"tag\"}");
  expect_error(ErrorKind::BadData, "tag",
               [&] { load_graph(folder_source(folder.path()), {}, 2, known, 1); });
}

}  // namespace
}  // namespace fovea::graph::load_test
