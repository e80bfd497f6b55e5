#include "fovea/data/graph/load.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/labels.h"
#include "fovea/data/load.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

const LabelWords kWords{"node", "class", "NAME"};

/// Where no file says so: nodes with a class into splits by chance.
void split_nodes(ReadGraph& graph, const GraphDataOptions& options, bool whole, uint64_t seed,
                 Notes& notes) {
  if (!graph.splits.empty()) return;
  std::vector<int64_t> labelled;
  for (size_t node = 0; node < graph.names.size(); ++node)
    if (!graph.labels[node].empty()) labelled.push_back(int64_t(node));
  graph.splits.assign(graph.names.size(), -1);
  if (whole) {
    for (const int64_t node : labelled) graph.splits[size_t(node)] = kTest;
    return;
  }
  const double both = options.validation_fraction + options.test_fraction;
  require(both < 1, ErrorKind::InvalidArgument, "data.validation_fraction and data.test_fraction ",
          "leave nothing to learn from: together they are ", both);
  const auto count = int64_t(labelled.size());
  const std::vector<int64_t> order = Random(seed).split("parts of nodes").permutation(count);
  const auto validation = int64_t(std::llround(options.validation_fraction * double(count))),
             test = int64_t(std::llround(options.test_fraction * double(count)));
  for (int64_t i = 0; i < count; ++i)
    graph.splits[size_t(labelled[size_t(order[size_t(i)])])] = i < validation          ? kValidation
                                                               : i < validation + test ? kTest
                                                                                       : kTrain;
  notes.push_back(concat("no split file: ", format_count(count - validation - test), " training, ",
                         format_count(validation), " validation and ", format_count(test),
                         " test nodes, chosen with seed ", seed));
}

ReadGraph open_graph(const DataSource& source, const GraphDataOptions& options, uint64_t seed,
                     Notes& notes) {
  check_roles(source, {});
  ReadGraph graph = source.path.empty() ? draw_graph(options.generator) : read_graph(source.path);
  with_truth(source.path, "graph",
             [&](const Field& truth) { graph.informative = truth.at("informative").texts(); });
  const fs::path description = source.path / "dataset.json";
  if (!source.path.empty() && fs::exists(description)) {
    ContentHash both;
    both.add(graph.hash + "\n" + hash_of_file(description));
    graph.hash = both.text();
  }
  require(!graph.names.empty(), ErrorKind::BadData, source.path.string(),
          ": the graph has no nodes");
  split_nodes(graph, options, source.whole, seed, notes);
  for (size_t node = 0; node < graph.names.size(); ++node)
    require(graph.splits[node] < 0 || !graph.labels[node].empty(), ErrorKind::BadData,
            source.path.string(), ": the node '", graph.names[node], "' is a ",
            kSplitNames[std::max(0, graph.splits[node])],
            " node, but has no class; add it to the labels, or take it out of the split");
  if (!graph.features.columns.empty()) return graph;
  require(options.setting == "transductive", ErrorKind::InvalidArgument,
          "data.setting=inductive: without features a node is known by nothing but itself, and "
          "nothing can be learned for nodes that training does not see");
  notes.push_back("there are no features: every node is its own");
  graph.features.dense = false;
  graph.features.columns = graph.names;
  for (size_t node = 0; node < graph.names.size(); ++node)
    graph.features.add_row({{int64_t(node), 1.0f}});
  return graph;
}

/// Nodes that are there while one of the splits up to `split` is worked on.
std::vector<char> seen_by(const std::vector<int>& splits, int split) {
  std::vector<char> seen;
  for (const int own : splits) seen.push_back(own <= split);
  return seen;
}

GraphCoding fit_graph(const ReadGraph& graph, const GraphDataOptions& options, Notes& notes) {
  LabelSet labels(kWords);
  for (size_t node = 0; node < graph.names.size(); ++node)
    if (graph.splits[node] >= 0) labels.add(graph.labels[node], graph.splits[node]);
  const std::vector<std::string> label_notes = labels.notes();
  notes.insert(notes.end(), label_notes.begin(), label_notes.end());
  GraphCoding coding;
  coding.classes.assign(labels.all().begin(), labels.all().end());
  require(coding.classes.size() > 1, ErrorKind::BadData, "the nodes have ", coding.classes.size(),
          " class; at least 2 are needed to tell apart");
  require(!labels.trained().empty(), ErrorKind::BadData, "no node with a class is for training; ",
          "say in the split file which are: NODE<tab>train");
  coding.class_counts.assign(coding.classes.size(), 0);
  for (size_t node = 0; node < graph.names.size(); ++node)
    if (graph.splits[node] == kTrain)
      ++coding
            .class_counts[size_t(label_index(graph.labels[node], coding.classes, kTrain, kWords))];
  const bool inductive = options.setting == "inductive";
  coding.features = fit_features(
      graph.features,
      inductive ? seen_by(graph.splits, kTrain) : std::vector<char>(graph.names.size(), 1),
      options.scaling);
  return coding;
}

/// The graph for this coding, and what was odd about it.
std::shared_ptr<const Graph> build(const ReadGraph& read, const GraphDataOptions& options,
                                   const GraphCoding& coding, Notes& notes) {
  EdgeCounts counts;
  auto graph = std::make_shared<Graph>(read.names, read.edges, options.directed, counts);
  for (size_t node = 0; node < read.names.size(); ++node) {
    const auto found = std::find(coding.classes.begin(), coding.classes.end(), read.labels[node]);
    if (found != coding.classes.end()) graph->labels[node] = found - coding.classes.begin();
  }
  const int64_t unknown = graph->set_features(read.features, coding.features);
  notes.push_back(concat(format_count(graph->size()), " nodes, ",
                         format_count(options.directed ? graph->edges() : graph->edges() / 2),
                         " edges, ", format_count(coding.features.width()),
                         coding.features.dense ? " dense" : " sparse", " features, scaled by ",
                         coding.features.scaling));
  const auto note = [&](int64_t count, const std::string& what) {
    if (count > 0) notes.push_back(concat(format_count(count), " ", what));
  };
  note(counts.self_loops, "self-loops were left out: every node looks at itself anyway");
  note(counts.repeated, "edges that were there already were left out");
  note(counts.isolated, "nodes have no edge: they look at themselves alone");
  note(unknown, "features that training does not know were left out");
  return graph;
}

}  // namespace

void GraphDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("directed", directed,
           "an edge lets its target look at its source alone; no: both look at each other");
  list.add("setting", setting,
           "transductive: training sees all nodes, but not their classes; inductive: only nodes "
           "that are neither for validation nor for the test")
      .choices({"transductive", "inductive"});
  list.add("scaling", scaling,
           "of features: rows, a node's numbers share 1; columns, mean 0 and deviation 1; none; "
           "auto: rows of sparse features, columns of dense ones")
      .choices({"auto", "rows", "columns", "none"});
  list.add("neighbours", neighbours,
           "in training a node looks at no more than so many others, drawn anew for every batch; "
           "0: at all")
      .at_least(0);
  describe_share(list, "validation_fraction", validation_fraction,
                 "without a split file: share of the nodes with a class that is for validation");
  describe_share(list, "test_fraction", test_fraction,
                 "without a split file: share of the nodes with a class that is for the test");
}

Splits load_graph(const DataSource& source, const GraphDataOptions& options, int64_t hops,
                  KnownGraph& known, uint64_t seed) {
  Splits splits;
  const ReadGraph read = open_graph(source, options, seed, splits.notes);
  splits.hash = read.hash;
  const bool fits_first = !known.fitted();
  if (fits_first)
    known.coding = std::make_shared<const GraphCoding>(fit_graph(read, options, splits.notes));
  const auto graph = build(read, options, *known.coding, splits.notes);
  if (fits_first) known.graph = graph;
  std::shared_ptr<std::vector<char>> informative;
  if (!read.informative.empty()) {
    informative = std::make_shared<std::vector<char>>(size_t(graph->size()), 0);
    for (const std::string& name : read.informative)
      if (const int64_t node = graph->find(name); node >= 0) (*informative)[size_t(node)] = 1;
  }
  for (int split = 0; split < kSplitCount; ++split) {
    NodeRows rows;
    for (size_t node = 0; node < read.names.size(); ++node) {
      if (read.splits[node] != split) continue;
      rows.nodes.push_back(int64_t(node));
      rows.classes.push_back(label_index(read.labels[node], known.coding->classes, split, kWords));
    }
    if (rows.nodes.empty()) continue;
    if (options.setting == "inductive")
      rows.seen = std::make_shared<const std::vector<char>>(seen_by(read.splits, split));
    rows.informative = informative;
    rows.neighbours = split == kTrain ? options.neighbours : 0;
    rows.seed = seed;
    splits[split] =
        std::make_shared<NodeDataset>(NodeEncoder(graph, known.coding, hops), std::move(rows));
  }
  return splits;
}

void write_graph_data(const fs::path& folder, const GraphDataOptions& options) {
  const ReadGraph graph = draw_graph(options.generator);
  make_folder(folder);
  std::string edges, features, labels, split;
  for (const auto& [source, target] : graph.edges)
    edges += concat(graph.names[size_t(source)], "\t", graph.names[size_t(target)], "\n");
  for (size_t node = 0; node < graph.names.size(); ++node) {
    const std::string& name = graph.names[node];
    std::vector<std::string> words;
    for (int64_t n = graph.features.begin[node]; n < graph.features.begin[node + 1]; ++n) {
      const std::string& column = graph.features.columns[size_t(graph.features.index[size_t(n)])];
      const float value = graph.features.value[size_t(n)];
      words.push_back(value == 1 ? column : concat(column, ":", format_exact(value)));
    }
    features += concat(name, "\t", join(words, " "), "\n");
    labels += concat(name, "\t", graph.labels[node], "\n");
    constexpr const char* kSplits[kSplitCount] = {"train", "val", "test"};
    split +=
        concat(name, "\t", graph.splits[node] < 0 ? "unused" : kSplits[graph.splits[node]], "\n");
  }
  write_file(folder / "edges.tsv", edges);
  write_file(folder / "features.tsv", features);
  write_file(folder / "labels.tsv", labels);
  write_file(folder / "split.tsv", split);
  write_description(folder, "graph", options_json(options.generator),
                    {{"truth", {{"informative", graph.informative}}}});
}

}  // namespace fovea
