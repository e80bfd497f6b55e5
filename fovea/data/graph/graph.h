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
#include "fovea/tensor/answer_kind.h"

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

/// What is known of edges, brought to mean 0 and deviation 1, so that 0 says nothing.
struct EdgeCoding {
  std::vector<std::string> columns;
  std::vector<double> means, deviations;

  int64_t width() const { return int64_t(columns.size()); }
  float scaled(float value, size_t column) const {
    return float((double(value) - means[column]) / deviations[column]);
  }
  Json to_json() const;
  static EdgeCoding from_json(const Json& json, const std::string& where);
};

/// Over all edges as the file has them.
EdgeCoding fit_edges(const ReadGraph& graph);

/// What is learned from the data besides the graph itself, and kept in the run.
struct GraphCoding {
  std::vector<std::string> classes;   // or labels
  std::vector<int64_t> class_counts;  // of the training nodes
  FeatureCoding features;
  EdgeCoding edges = {};
  AnswerKind kind = AnswerKind::Class;
  std::string separator = {};  // between the labels of a cell
  int64_t rows = 0;            // training nodes

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
  std::vector<int64_t> labels;                   // [N]: a class, or -1
  std::vector<std::vector<int64_t>> label_sets;  // [N], of several labels; else empty

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

  /// Numbers of edges as the file has them, [edges, columns], for the coding's columns by name.
  /// Both directions of an edge have them, and the first of several edges between two nodes counts.
  /// BadData where a column is missing.
  void set_edge_features(const ReadGraph& read, const EdgeCoding& coding);
  int64_t edge_width() const { return edge_width_; }
  /// Of the edge by which `node` looks at its neighbour of that place; edge_width() of them.
  std::span<const float> edge_features(int64_t node, size_t place) const;

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
  std::vector<int64_t> edge_of_;                // [E]: which of those given
  int64_t edge_width_ = 0;
  std::vector<float> edge_value_;  // [E, edge_width]
  bool dense_ = false;
  int64_t width_ = 0;
  std::vector<int64_t> feature_begin_, feature_index_;  // sparse
  std::vector<float> feature_value_;
};

}  // namespace fovea
