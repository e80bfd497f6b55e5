// What a network of so many layers sees of a graph around some nodes: all nodes within that many
// steps, sorted by their distance, and the edges between them that count. nn/graph/graph_block.h
// says how the network uses this order. With `neighbours` a node looks at no more than so many
// others, drawn at random: graphs with hubs then fit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/data/graph/graph.h"
#include "fovea/tensor/example.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct Subgraph {
  std::vector<int64_t> nodes;   // [M]: numbers in the graph; of equal distance the lower ones first
  std::vector<int64_t> reach;   // [hops + 1]: how many lie within 0, 1, … steps
  std::vector<int64_t> begin;   // [reach[hops - 1] + 1]: edges by who looks
  std::vector<int64_t> source;  // [E]: places in `nodes`; each node itself comes first

  int64_t edge_width = 0;
  std::vector<float> edge_value;  // [E, edge_width]: what is known of the edges, of self-loops 0

  int64_t hops() const { return int64_t(reach.size()) - 1; }
  std::span<const int64_t> row(int64_t place) const;
  /// The tensors of nn/graph/graph_block.h, without "node".
  void add_to(NamedTensors& tensors) const;
};

/// A node that is not in the graph. Its number is the graph's size.
struct NewNode {
  std::vector<int64_t> neighbours;  // rising
  std::vector<float> edges = {};    // what is known of those edges, scaled; empty: nothing
};

struct LookOptions {
  int64_t hops = 2;
  int64_t neighbours = 0;                   // 0: all
  Random random{};                          // draws them
  const std::vector<char>* seen = nullptr;  // [N]: nodes that are there; null: all
  const NewNode* stranger = nullptr;        // that is there too
};

/// Around `targets`, each counted once.
Subgraph k_hop_subgraph(const Graph& graph, std::span<const int64_t> targets,
                        const LookOptions& options);

}  // namespace fovea
