// The part of a graph that a batch of nodes needs, as the batch holds it. A network of L layers
// answers for nodes from all that lie within L steps of them. The nodes are sorted by this
// distance, so that every layer works on the first ones: layer l reads the nodes within L - l + 1
// steps and writes those within L - l. One list of edges, sorted by the node that looks, serves all
// layers in the same way.
//   reach         int64 [L + 1]   nodes within 0, 1, … L steps
//   edge_begin    int64 [reach[L - 1] + 1]; edge_source, edge_target  int64 [E]
//   out_begin     int64 [reach[L] + 1];     out_edge  int64 [E]: the edges by the node looked at
//   edge_features float [E, Fe]   what is known of the edges, 0 of those to oneself; may be missing
//   node          int64 [B]       where the nodes to answer for stand, among the first reach[0]
#pragma once

#include <vector>

#include "fovea/tensor/example.h"

namespace fovea {

/// The edges of one layer: each target looks at its sources. Tensors may go on beyond them.
struct GraphEdges {
  int64_t targets = 0, sources = 0, count = 0;  // T, S, E
  at::Tensor begin, source, target;             // [T + 1], [E], [E]
  at::Tensor out_begin, out_edge;               // [S + 1], […]; undefined: no kernel needs them
  at::Tensor own = at::Tensor();       // [T]: the targets among the sources; undefined: the first T
  at::Tensor features = at::Tensor();  // [E, Fe]; undefined: nothing is known of edges

  /// [E]
  at::Tensor sources_of_edges() const { return source.narrow(0, 0, count); }
  at::Tensor targets_of_edges() const { return target.narrow(0, 0, count); }
  at::Tensor features_of_edges() const { return features.narrow(0, 0, count); }  // [E, Fe]
  /// int64 [2, E]: who looks, and at whom, as places among the sources.
  at::Tensor index() const;
  /// Edges of the targets that `node` [B] names, in its order, one target per entry.
  GraphEdges of_rows(const at::Tensor& node) const;
};

class GraphBlock {
 public:
  /// InvalidArgument when the batch was made for another number of layers.
  GraphBlock(const Batch& batch, int64_t layers);
  int64_t nodes() const { return reach_.back(); }
  GraphEdges edges(int64_t layer) const;  // from 1

 private:
  std::vector<int64_t> reach_, ends_;  // nodes within so many steps, and their edges
  GraphEdges all_;
};

}  // namespace fovea
