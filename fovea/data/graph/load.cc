#include "fovea/data/graph/load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/labels.h"
#include "fovea/data/load.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

const LabelWords kWords{"node", "class", "NAME"};

bool draws_several(const GraphDataOptions& options) {
  return options.target.target_kind == "labels";
}

/// What the labels are, for the first time or as the run knows it: of several every node has a
/// list, and `label_cell` is List.
void decide_labels_of_nodes(ReadGraph& graph, const GraphDataOptions& options,
                            const GraphCoding* known, std::string& separator, Notes& notes) {
  if (known) {
    separator = known->separator;
    if (known->kind == AnswerKind::Class) {
      for (const auto& own : graph.label_lists)
        require(own.size() <= 1, ErrorKind::BadData, "a node has the labels ", join(own),
                ", where this run expects one class");
      graph.label_cell = LabelCell::One;
      return;
    }
  } else {
    LabelCells found;
    for (const std::string& label : graph.labels) found.add(label, graph.label_cell);
    const auto decided = decide_labels(found, options.target, notes);
    const bool lists = graph.label_cell == LabelCell::List;
    graph.label_cell = decided ? LabelCell::List : LabelCell::One;
    if (!decided) return;
    separator = *decided;
    if (lists) return;
  }
  graph.label_cell = LabelCell::List;
  if (!graph.label_lists.empty()) return;
  for (const std::string& label : graph.labels)
    graph.label_lists.push_back(distinct_labels(
        known_labels(label, separator, known ? known->classes : std::vector<std::string>())));
}

/// None of several labels is an answer too, where the file has the node.
bool is_labelled(const ReadGraph& graph, size_t node) {
  const bool several = graph.label_cell == LabelCell::List && !graph.in_labels.empty();
  return several ? graph.in_labels[node] != 0 : !graph.labels[node].empty();
}

/// job(label) for the class or the labels of a node.
template <class Job>
void for_each_label(const ReadGraph& graph, size_t node, Job job) {
  if (graph.label_cell != LabelCell::List) return job(graph.labels[node]);
  for (const std::string& label : graph.label_lists[node]) job(label);
}

/// Where no file says so: nodes with a class into splits by chance.
void split_nodes(ReadGraph& graph, const GraphDataOptions& options, bool whole, uint64_t seed,
                 Notes& notes) {
  if (!graph.splits.empty()) return;
  std::vector<int64_t> labelled;
  for (size_t node = 0; node < graph.names.size(); ++node)
    if (is_labelled(graph, node)) labelled.push_back(int64_t(node));
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

ReadGraph open_graph(const DataSource& source, const GraphDataOptions& options,
                     const GraphCoding* known, uint64_t seed, std::string& separator,
                     Notes& notes) {
  check_roles(source, {});
  ReadGraph graph = source.path.empty() ? draw_graph(options.generator, draws_several(options))
                                        : read_graph(source.path);
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
  decide_labels_of_nodes(graph, options, known, separator, notes);
  split_nodes(graph, options, source.whole, seed, notes);
  for (size_t node = 0; node < graph.names.size(); ++node)
    require(graph.splits[node] < 0 || is_labelled(graph, node), ErrorKind::BadData,
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
    if (graph.splits[node] >= 0)
      for_each_label(graph, node,
                     [&](const std::string& label) { labels.add(label, graph.splits[node]); });
  const std::vector<std::string> label_notes = labels.notes();
  notes.insert(notes.end(), label_notes.begin(), label_notes.end());
  GraphCoding coding;
  coding.classes.assign(labels.all().begin(), labels.all().end());
  require(coding.classes.size() > 1, ErrorKind::BadData, "the nodes have ", coding.classes.size(),
          " class; at least 2 are needed to tell apart");
  require(!labels.trained().empty(), ErrorKind::BadData, "no node with a class is for training; ",
          "say in the split file which are: NODE<tab>train");
  coding.kind = graph.label_cell == LabelCell::List ? AnswerKind::Labels : AnswerKind::Class;
  coding.class_counts.assign(coding.classes.size(), 0);
  for (size_t node = 0; node < graph.names.size(); ++node) {
    if (graph.splits[node] != kTrain) continue;
    ++coding.rows;
    for_each_label(graph, node, [&](const std::string& label) {
      ++coding.class_counts[size_t(label_index(label, coding.classes, kTrain, kWords))];
    });
  }
  if (coding.kind == AnswerKind::Labels) {
    const auto all = std::accumulate(coding.class_counts.begin(), coding.class_counts.end(), 0.0);
    notes.push_back(concat(coding.classes.size(), " labels, ",
                           format_number(all / double(std::max<int64_t>(coding.rows, 1)), 3),
                           " on average of a training node"));
  }
  coding.edges = fit_edges(graph);
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
    if (coding.kind == AnswerKind::Labels) graph->label_sets.emplace_back();
    for_each_label(read, node, [&](const std::string& label) {
      const auto found = std::find(coding.classes.begin(), coding.classes.end(), label);
      if (found == coding.classes.end()) return;
      if (coding.kind == AnswerKind::Labels)
        graph->label_sets.back().push_back(found - coding.classes.begin());
      else
        graph->labels[node] = found - coding.classes.begin();
    });
  }
  graph->set_edge_features(read, coding.edges);
  const int64_t unknown = graph->set_features(read.features, coding.features);
  notes.push_back(concat(
      format_count(graph->size()), " nodes, ",
      format_count(options.directed ? graph->edges() : graph->edges() / 2), " edges",
      coding.edges.width() > 0 ? concat(" with ", join(coding.edges.columns)) : std::string(), ", ",
      format_count(coding.features.width()), coding.features.dense ? " dense" : " sparse",
      " features, scaled by ", coding.features.scaling));
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
  target.describe(list, "graph.md");
}

Splits load_graph(const DataSource& source, const GraphDataOptions& options, int64_t hops,
                  KnownGraph& known, uint64_t seed) {
  Splits splits;
  std::string separator;
  const ReadGraph read =
      open_graph(source, options, known.coding.get(), seed, separator, splits.notes);
  splits.hash = read.hash;
  const bool fits_first = !known.fitted();
  if (fits_first) {
    GraphCoding coding = fit_graph(read, options, splits.notes);
    coding.separator = separator;
    known.coding = std::make_shared<const GraphCoding>(std::move(coding));
  }
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
    const bool several = known.coding->kind == AnswerKind::Labels;
    if (several) rows.label_count = int64_t(known.coding->classes.size());
    for (size_t node = 0; node < read.names.size(); ++node) {
      if (read.splits[node] != split) continue;
      rows.nodes.push_back(int64_t(node));
      std::vector<int64_t> labels;
      for_each_label(read, node, [&](const std::string& label) {
        labels.push_back(label_index(label, known.coding->classes, split, kWords));
      });
      if (several)
        rows.labels.push_back(std::move(labels));
      else
        rows.classes.push_back(labels[0]);
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
  const ReadGraph graph = draw_graph(options.generator, draws_several(options));
  make_folder(folder);
  std::string edges, features, labels, split;
  if (draws_several(options)) labels = concat("node\t", kLabelsColumn, "\n");
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
