// Nodes of a graph as examples and batches. An example is a node with everything that the network
// sees around it; a batch of data rows shares what its nodes see in common, a batch of examples
// keeps them apart, since each may have lost something (erase).
//   axes  "nodes"       all of them; the node in question is the first
//         "neighbours"  the node itself, then those it looks at: the beginning of "nodes"
//         "features"    its own
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/graph/subgraph.h"
#include "fovea/tensor/random.h"

namespace fovea {

/// A node that a user describes.
struct DescribedNode {
  FeatureRow features;              // scaled
  std::vector<int64_t> neighbours;  // in the graph
  std::vector<float> edges = {};    // what is known of the edges to them, scaled; empty: nothing
};

class NodeEncoder {
 public:
  NodeEncoder(std::shared_ptr<const Graph> graph, std::shared_ptr<const GraphCoding> coding,
              int64_t hops)
      : graph_(std::move(graph)), coding_(std::move(coding)), hops_(hops) {}
  const Graph& graph() const { return *graph_; }
  int64_t hops() const { return hops_; }

  /// Everything around it; `seen` as in LookOptions.
  Example example(int64_t node, const std::vector<char>* seen = nullptr) const;
  Example example(const DescribedNode& node) const;

  /// For rows of data, what they see together: all of a batch but "node" and "target".
  NamedTensors tensors(const Subgraph& around) const;

  /// Examples side by side, each with its own copy of what it sees.
  Batch collate(std::span<const Example> examples) const;

  /// neighbours: edges of the node in question; nodes: all their edges, and of the node in question
  /// its features; features: its own. Unsupported for another axis.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const;

 private:
  Example described(const Subgraph& around, const DescribedNode* stranger) const;
  std::string class_of(int64_t node) const;  // "" where it is not known

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const GraphCoding> coding_;
  int64_t hops_;
};

/// Which rows a data set has, and what may be seen from them.
struct NodeRows {
  std::vector<int64_t> nodes, classes;                   // of each row
  std::vector<std::vector<int64_t>> labels = {};         // of each row, in place of its class
  int64_t label_count = 0;                               // 0: there are classes
  std::shared_ptr<const std::vector<char>> seen;         // [N]; null: all nodes
  std::shared_ptr<const std::vector<char>> informative;  // [N]: planted truth, or null
  int64_t neighbours = 0;  // that a node looks at in training, at most; 0: all
  uint64_t seed = 0;       // draws them
};

class NodeDataset : public Dataset {
 public:
  NodeDataset(NodeEncoder encoder, NodeRows rows);
  int64_t size() const override { return int64_t(rows_.nodes.size()); }
  Example example(int64_t row) const override;
  /// The rows, looking at everything.
  Batch batch(std::span<const int64_t> rows) const override;
  /// The rows, looking at some neighbours. Which ones depends on the rows and on their order, not
  /// on `random`: another order, another draw.
  Batch augmented_batch(std::span<const int64_t> rows, const Random& random) const override;

  const std::string& name(int64_t row) const;
  FeatureRow features(int64_t row) const {
    return encoder_.graph().features(rows_.nodes[checked(row)]);
  }
  Json input(int64_t row) const override { return name(row); }
  bool has_truth() const override { return rows_.informative != nullptr; }
  /// Map "neighbours": whether each neighbour, the node itself first, is known to matter. Empty
  /// where none is.
  NamedTensors planted_truth(int64_t row) const override;

 private:
  size_t checked(int64_t row) const;
  /// What the rows see together, of each node at most so many neighbours, and where they stand.
  NamedTensors shared_tensors(std::span<const int64_t> rows, int64_t neighbours,
                              std::vector<int64_t>& places) const;
  at::Tensor targets(std::span<const int64_t> rows) const;  // [B], of several labels [B, C]
  Batch labelled(NamedTensors tensors, std::span<const int64_t> rows,
                 std::vector<int64_t> places) const;

  NodeEncoder encoder_;
  NodeRows rows_;
  mutable std::mutex mutex_;
  mutable NamedTensors whole_;  // what all rows see, once asked for: a full batch needs it again
  mutable std::vector<int64_t> whole_places_;
};

}  // namespace fovea
