// A graph as a folder of small tables: edges, features of nodes, labels, split. TSV or CSV, plain
// or gzip, with or without a header. docs/formats/graph.md states the rules and what is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/label_cells.h"

namespace fovea {

/// As the file has them. Dense: every node has a number in every column. Sparse: node i has the
/// entries begin[i] … begin[i + 1] - 1, none twice.
struct RawFeatures {
  bool dense = false;
  std::vector<std::string> columns;   // sparse: in the order in which they first occurred
  std::vector<int64_t> begin, index;  // sparse
  std::vector<float> value;           // dense: [N, columns], row by row

  /// Appends the sparse row of the next node; entries of one column are added up.
  void add_row(std::vector<std::pair<int64_t, float>> row);
};

struct ReadGraph {
  std::vector<std::string> names;                  // of the nodes
  RawFeatures features;                            // without columns where there is no such file
  std::vector<std::pair<int64_t, int64_t>> edges;  // source, target; as the file has them
  std::vector<std::string> labels;                 // of each node, "" without one
  LabelCell label_cell = LabelCell::One;           // what they are
  std::vector<std::vector<std::string>> label_lists = {};  // of each node, of lists; else empty
  std::vector<char> in_labels = {};                        // whether the file has the node
  std::vector<std::string> edge_columns = {};              // what is known of edges: weight, …
  std::vector<float> edge_values = {};                     // [edges, edge_columns], row by row
  std::vector<int> splits;                    // of each node, -1 for none; empty: no such file
  std::vector<std::string> informative = {};  // names of nodes that are known to matter
  std::string hash = {};
};

/// NotFound without edges or labels. BadData with path:line for a line that does not fit, for a
/// node that the features file does not have, and for one that it has twice.
ReadGraph read_graph(const std::filesystem::path& folder, int64_t max_bytes = int64_t{4} << 30);

}  // namespace fovea
