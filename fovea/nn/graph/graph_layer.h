// One layer of graph attention: every node looks at its neighbours and at itself. With z = W x, per
// head:
//   gat      e_ij = leaky(a . z_i + b . z_j)                     Velickovic et al. 2018
//   gatv2    e_ij = a . leaky(Q x_i + z_j)                       Brody et al. 2022
//   uniform  e_ij = 0                                            what attention is held against
//   w_ij = softmax over the edges of i      o_i = sum_j w_ij z_j + c
// What is known of edges, f_ij, enters the scores: u . f_ij within leaky of gat, U f_ij beside Q
// x_i of gatv2; nothing is known of how a node looks at itself, f_ii = 0. With a skip connection
//   o_i = sum_j w_ij z_j + c + x_i, or S x_i where the sizes differ
// Heads stand side by side, or are averaged. In training dropout takes inputs, weights w, and
// values z before they are summed. Memory is linear in nodes and edges. On a CPU in float32 the
// layer is one kernel (graph_fused.h); with a tap or f_ij, and on other devices, readable tensors.
#pragma once

#include "fovea/nn/graph/graph_block.h"
#include "fovea/nn/graph/graph_features.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/tap.h"

namespace fovea {

struct GraphLayerOptions {
  int64_t inputs = 0;            // F
  int64_t heads = 1, width = 8;  // H, D
  bool side_by_side = true;      // otherwise the mean of the heads
  std::string score = "gat";     // gat, gatv2 or uniform
  double slope = 0.2;            // of leaky, below 0
  double dropout = 0;            // of the inputs
  double attention_dropout = 0;  // of w
  double value_dropout = 0;      // of z where it is summed
  int64_t edge_features = 0;     // Fe; 0: none, or the score does not know them
  std::string skip = "none";     // none, identity (inputs are outputs), projection

  int64_t outputs() const { return side_by_side ? heads * width : width; }
};

/// How a layer's attention is recorded.
struct GraphTap {
  Tap* tap = nullptr;
  int64_t layer = 0;        // from 1
  bool neighbours = false;  // also as a dense map: each target's neighbours, in their order, one
                            // after the other
};

class GraphLayer : public torch::nn::Module {
 public:
  explicit GraphLayer(const GraphLayerOptions& options);
  const GraphLayerOptions& options() const { return options_; }
  void initialise(const Random& random);

  /// x of S nodes -> [T, outputs()]. Maps: "attention" over the edges, axes "nodes"; with
  /// `neighbours` also "neighbours" [T, H, 1, K], and the leaf of that axis: what each neighbour
  /// says, z. `random` is that of a training step.
  at::Tensor forward(const NodeFeatures& x, const GraphEdges& edges, const Random* random = nullptr,
                     const GraphTap& tap = {}) const;

 private:
  struct Seen;
  bool knows_edges() const { return options_.edge_features > 0 && options_.score != "uniform"; }
  at::Tensor mixed(const Seen& seen, const GraphEdges& edges, const GraphTap& tap) const;
  at::Tensor edge_scores(const Seen& seen, const at::Tensor& keys, const GraphEdges& edges) const;

  GraphLayerOptions options_;
  at::Tensor weight_, query_weight_;  // [F, H D]; queries of gatv2 only
  at::Tensor to_target_, to_source_;  // a, b: [H, D]; b of gat only
  at::Tensor bias_;                   // c: [outputs()]
  at::Tensor edge_weight_;            // u of gat: [H, Fe]; U of gatv2: [H D, Fe]
  at::Tensor skip_weight_;            // S: [F, outputs()]
};

/// softmax over the edges of each target. scores [E, H]
at::Tensor edge_softmax(const at::Tensor& scores, const GraphEdges& edges);

}  // namespace fovea
