// A graph in memory and in a run: nodes with names, features and perhaps a class, and for every
// node those it looks at. Everything is linear in nodes, edges and features that are not 0.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/data/graph/reader.h"

namespace fovea {

/// One node's features: dense numbers, or columns (rising) and values.
struct FeatureRow {
  std::vector<int64_t> index;  // sparse
  std::vector<float> value;
};

/// What is learned of the features from the nodes that training sees, and kept in the run.
struct FeatureCoding {
  bool dense = false;
  std::vector<std::string> columns;       // F of them
  std::string scaling = "none";           // rows: each node's numbers share 1; columns: mean 0,
                                          // deviation 1; none
  std::vector<double> means, deviations;  // by column

  int64_t width() const { return int64_t(columns.size()); }
  /// The column's place, or -1.
  int64_t find(const std::string& name) const;
  void scale(FeatureRow& row) const;
  /// To be called when the columns are there.
  void number_columns();

  Json to_json() const;
  /// BadData, beginning with `where`.
  static FeatureCoding from_json(const Json& json, const std::string& where);

 private:
  std::unordered_map<std::string, int64_t> places_;
};

/// Learns columns and scaling; `seen` says which nodes count. `scaling` may be "auto": rows of
/// sparse features, columns of dense ones. InvalidArgument for columns of sparse features.
FeatureCoding fit_features(const RawFeatures& raw, const std::vector<char>& seen,
                           const std::string& scaling);

/// What is learned from the data besides the graph itself, and kept in the run.
struct GraphCoding {
  std::vector<std::string> classes;
  std::vector<int64_t> class_counts;  // of the training nodes
  FeatureCoding features;

  Json to_json() const;
  /// BadData, beginning with `where`.
  static GraphCoding from_json(const Json& json, const std::string& where);
};

/// What was odd about a list of edges.
struct EdgeCounts {
  int64_t edges = 0, self_loops = 0, repeated = 0, isolated = 0;
};

class Graph {
 public:
  bool directed = false;
  std::vector<int64_t> labels;  // [N]: a class, or -1

  Graph() = default;
  /// Node i looks at j for an edge (j, i); without direction also the other way round. Self-loops
  /// and repeated edges are counted and left out.
  Graph(std::vector<std::string> names, std::span<const std::pair<int64_t, int64_t>> edges,
        bool directed, EdgeCounts& counts);

  int64_t size() const { return int64_t(names_.size()); }
  int64_t edges() const { return int64_t(neighbours_.size()); }  // each direction counts
  const std::string& name(int64_t node) const { return names_.at(size_t(node)); }
  /// The node's number, or -1.
  int64_t find(const std::string& name) const;
  /// The nodes that `node` looks at, rising, without itself.
  std::span<const int64_t> neighbours(int64_t node) const;

  /// Columns that the coding does not know are left out; returns how many entries that were.
  int64_t set_features(const RawFeatures& raw, const FeatureCoding& coding);
  FeatureRow features(int64_t node) const;
  bool is_dense() const { return dense_; }
  int64_t width() const { return width_; }

  /// For graph.safetensors and graph.json of a run.
  std::map<std::string, at::Tensor> to_tensors() const;
  Json names_json() const { return names_; }
  /// BadData, beginning with `where`, for tensors that do not fit together.
  static Graph from_tensors(std::vector<std::string> names, bool directed,
                            const std::map<std::string, at::Tensor>& tensors,
                            const std::string& where);

 private:
  void number_names();

  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t> numbers_;
  std::vector<int64_t> begin_{0}, neighbours_;  // [N + 1], [E]
  bool dense_ = false;
  int64_t width_ = 0;
  std::vector<int64_t> feature_begin_, feature_index_;  // sparse
  std::vector<float> feature_value_;
};

}  // namespace fovea
