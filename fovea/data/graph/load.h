// The data of the task `graph`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/data/graph/nodes.h"
#include "fovea/data/graph/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct GraphDataOptions {
  SyntheticGraphOptions generator;
  bool directed = false;
  std::string setting = "transductive";
  std::string scaling = "auto";
  LabelOptions target;
  int64_t neighbours = 0;
  double validation_fraction = 0.2, test_fraction = 0.2;
  void describe(OptionList& list);
};

/// What training leaves behind: the graph that questions about nodes are answered from.
struct KnownGraph {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const GraphCoding> coding;
  bool fitted() const { return coding != nullptr; }
  NodeEncoder encoder(int64_t hops) const { return {graph, coding, hops}; }
};

/// Reads a folder (reader.h), or draws the synthetic graph. A first call learns classes and
/// columns and keeps the graph; later calls may read another one, whose columns go by their names.
/// With data.setting=inductive training sees nothing of the nodes that it will be measured on.
Splits load_graph(const DataSource& source, const GraphDataOptions& options, int64_t hops,
                  KnownGraph& known, uint64_t seed);

/// Writes the synthetic graph as edges.tsv, features.tsv, labels.tsv, split.tsv and dataset.json,
/// which holds the planted truth: loading the folder gives the same rows.
void write_graph_data(const std::filesystem::path& folder, const GraphDataOptions& options);

}  // namespace fovea
