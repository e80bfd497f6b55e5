// A small graph as a batch of nn/graph_block.h, made by plain loops over all pairs of nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/tensor/example.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

/// What a graph is before any network looks at it.
struct SmallGraph {
  int64_t nodes = 0;
  std::vector<std::pair<int64_t, int64_t>> edges;  // without direction
  at::Tensor features;                             // [N, F]
  int64_t edge_features = 0;

  /// What is known of an edge, the same in both directions.
  static double edge_feature(int64_t one, int64_t other, int64_t column) {
    return one == other ? 0 : std::sin(1.7 * double(one + other) + 0.6 * double(column));
  }

  bool joined(int64_t one, int64_t other) const {
    if (one == other) return true;
    for (const auto& [a, b] : edges)
      if ((a == one && b == other) || (b == one && a == other)) return true;
    return false;
  }
};

/// A ring with some further edges; the last node has none.
inline SmallGraph ring(int64_t nodes, int64_t features, uint64_t seed = 1) {
  SmallGraph graph{nodes, {}, Random(seed).normal_tensor({nodes, features}, 0, 1, at::kFloat)};
  graph.features = graph.features * Random(seed).split("zeros").bernoulli_tensor(
                                        {nodes, features}, 0.5, at::TensorOptions(at::kFloat));
  for (int64_t i = 0; i + 1 < nodes; ++i) graph.edges.emplace_back(i, (i + 1) % (nodes - 1));
  for (int64_t i = 0; i + 5 < nodes - 1; i += 2) graph.edges.emplace_back(i, i + 5);
  return graph;
}

/// `rows` of the graph, with what a network of `layers` layers needs.
inline Batch graph_batch(const SmallGraph& graph, const std::vector<int64_t>& rows, int64_t layers,
                         bool sparse = true, at::ScalarType type = at::kFloat) {
  std::vector<int64_t> nodes, reach, begin{0}, source, target;
  const auto place = [&](int64_t node) {
    return std::find(nodes.begin(), nodes.end(), node) - nodes.begin();
  };
  for (const int64_t node : rows)
    if (place(node) == int64_t(nodes.size())) nodes.push_back(node);
  reach.push_back(int64_t(nodes.size()));
  for (int64_t step = 0; step < layers; ++step) {
    for (int64_t node = 0; node < graph.nodes; ++node)
      for (int64_t i = 0; i < reach.back(); ++i)
        if (graph.joined(node, nodes[size_t(i)]) && place(node) == int64_t(nodes.size()))
          nodes.push_back(node);
    reach.push_back(int64_t(nodes.size()));
  }
  for (int64_t row = 0; row < reach[size_t(layers - 1)]; ++row) {
    for (int64_t node = -1; node < graph.nodes; ++node) {  // -1: itself, first
      const int64_t own = nodes[size_t(row)], other = node < 0 ? own : node;
      if (node == own || !graph.joined(own, other)) continue;
      source.push_back(place(other));
      target.push_back(row);
    }
    begin.push_back(int64_t(source.size()));
  }
  std::vector<int64_t> out_begin{0}, out_edge, places, index, feature_begin{0};
  for (size_t node = 0; node < nodes.size(); ++node) {
    for (size_t e = 0; e < source.size(); ++e)
      if (source[e] == int64_t(node)) out_edge.push_back(int64_t(e));
    out_begin.push_back(int64_t(out_edge.size()));
  }
  for (const int64_t node : rows) places.push_back(place(node));
  Batch batch{{}, int64_t(rows.size())};
  const auto longs = [](const std::vector<int64_t>& numbers) {
    return torch::tensor(numbers, at::kLong);
  };
  batch.tensors = {{"reach", longs(reach)},         {"edge_begin", longs(begin)},
                   {"edge_source", longs(source)},  {"edge_target", longs(target)},
                   {"out_begin", longs(out_begin)}, {"out_edge", longs(out_edge)},
                   {"node", longs(places)}};
  const at::Tensor features = graph.features.to(type).index_select(0, longs(nodes));  // [M, F]
  if (!sparse) {
    batch.tensors["features"] = features;
  } else {
    std::vector<double> values;
    for (size_t node = 0; node < nodes.size(); ++node) {
      for (int64_t f = 0; f < features.size(1); ++f) {
        const double value = features[int64_t(node)][f].item<double>();
        if (value != 0) index.push_back(f), values.push_back(value);
      }
      feature_begin.push_back(int64_t(index.size()));
    }
    batch.tensors["feature_begin"] = longs(feature_begin);
    batch.tensors["feature_index"] = longs(index);
    batch.tensors["feature_value"] = torch::tensor(values, at::kDouble).to(type);
  }
  if (graph.edge_features > 0) {
    at::Tensor known = torch::zeros({int64_t(source.size()), graph.edge_features}, at::kDouble);
    for (size_t e = 0; e < source.size(); ++e)
      for (int64_t c = 0; c < graph.edge_features; ++c)
        known[int64_t(e)][c] =
            SmallGraph::edge_feature(nodes[size_t(source[e])], nodes[size_t(target[e])], c);
    batch.tensors["edge_features"] = known.to(type);
  }
  batch.tensors["target"] = torch::arange(batch.size, at::kLong) % 3;
  return batch;
}

}  // namespace fovea::testing
