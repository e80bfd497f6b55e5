#include "fovea/nn/graph/graph_layer.h"

#include <cmath>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/nn/graph/graph_fused.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

namespace {

/// Glorot's uniform range for a map of `in` to `out` numbers.
void initialise_uniform(const Tensor& parameter, int64_t in, int64_t out, const Random& random) {
  const double range = std::sqrt(6.0 / double(in + out));
  parameter.copy_(random.uniform_tensor(parameter.sizes(), -range, range, parameter.options()));
}

/// The largest score of each target's edges, near enough for a softmax: [T, H]. Every target is
/// lifted above the one before it; then the largest so far at its last edge is its own.
Tensor largest_of_targets(const Tensor& scores, const GraphEdges& edges) {
  if (edges.count == 0) return at::zeros({edges.targets, scores.size(1)}, scores.options());
  const Tensor exact = scores.to(at::kDouble);
  const Tensor lift = exact.max() - exact.min() + 1;
  const Tensor lifted = exact + lift * edges.targets_of_edges().unsqueeze(1);  // [E, H]
  const Tensor last = (edges.begin.narrow(0, 1, edges.targets) - 1).clamp_min(0);
  const Tensor most = std::get<0>(lifted.cummax(0)).index_select(0, last);
  const Tensor number = at::arange(edges.targets, last.options()).unsqueeze(1);  // [T, 1]
  return (most - lift * number)
      .to(scores.dtype());  // a target without edges: whatever stands there
}

/// Edges as a dense grid: row t, column k is the k-th edge of target t.
class EdgeGrid {
 public:
  explicit EdgeGrid(const GraphEdges& edges) : targets_(edges.targets) {
    const Tensor degrees = edges.begin.narrow(0, 0, targets_ + 1).diff();  // [T]
    columns_ = targets_ == 0 ? 0 : degrees.max().item<int64_t>();
    const Tensor target = edges.targets_of_edges();
    place_ = target * columns_ + at::arange(edges.count, target.options()) -
             edges.begin.index_select(0, target);  // [E]
  }
  /// [E, C] -> [T, K, C], 0 where there is no edge.
  Tensor spread(const Tensor& rows) const {
    return at::zeros({targets_ * columns_, rows.size(1)}, rows.options())
        .index_copy(0, place_, rows)
        .view({targets_, columns_, rows.size(1)});
  }
  /// And back.
  Tensor gather(const Tensor& grid) const { return grid.flatten(0, 1).index_select(0, place_); }

 private:
  int64_t targets_, columns_;
  Tensor place_;
};

}  // namespace

Tensor edge_softmax(const Tensor& scores, const GraphEdges& edges) {
  const Tensor target = edges.targets_of_edges();
  const Tensor most = largest_of_targets(scores.detach(), edges);         // [T, H]
  const Tensor powers = (scores - most.index_select(0, target)).exp();    // [E, H]
  const Tensor sums = at::zeros_like(most).index_add(0, target, powers);  // [T, H]
  return powers / sums.index_select(0, target);
}

/// What a layer makes of its inputs before nodes look at each other.
struct GraphLayer::Seen {
  Tensor states;   // z [S, H D]
  Tensor queries;  // gatv2: [T, H D]
  Tensor values;   // z after dropout [S, H D]; undefined: z
  Tensor keep;     // what dropout makes of 1 [E, H]; undefined: 1
};

GraphLayer::GraphLayer(const GraphLayerOptions& options) : options_(options) {
  const auto& o = options_;
  require(o.score == "gat" || o.score == "gatv2" || o.score == "uniform",
          ErrorKind::InvalidArgument, "graph attention has no score '", o.score,
          "'; there are gat, gatv2 and uniform");
  require(o.inputs > 0 && o.heads > 0 && o.width > 0 && o.heads <= kernels::kMostGraphHeads,
          ErrorKind::InvalidArgument, "a graph layer of ", o.heads, " heads of ", o.width,
          " numbers over ", o.inputs, " inputs cannot be built");
  weight_ = register_parameter("weight", at::zeros({o.inputs, o.heads * o.width}));
  if (o.score == "gatv2")
    query_weight_ = register_parameter("query_weight", at::zeros({o.inputs, o.heads * o.width}));
  if (o.score != "uniform")
    to_target_ = register_parameter("to_target", at::zeros({o.heads, o.width}));
  if (o.score == "gat") to_source_ = register_parameter("to_source", at::zeros({o.heads, o.width}));
  bias_ = register_parameter("bias", at::zeros({o.outputs()}));
  if (knows_edges())
    edge_weight_ = register_parameter(
        "edge_weight",
        at::zeros({o.score == "gat" ? o.heads : o.heads * o.width, o.edge_features}));
  if (o.skip == "projection")
    skip_weight_ = register_parameter("skip_weight", at::zeros({o.inputs, o.outputs()}));
  require(o.skip == "none" || o.skip == "projection" ||
              (o.skip == "identity" && o.inputs == o.outputs()),
          ErrorKind::InvalidArgument, "a graph layer of ", o.inputs, " inputs and ", o.outputs(),
          " outputs cannot have the skip connection '", o.skip, "'");
}

void GraphLayer::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  // Each head is a map of its own, as in the paper's code.
  initialise_uniform(weight_, options_.inputs, options_.width, random.split("weight"));
  if (query_weight_.defined())
    initialise_uniform(query_weight_, options_.inputs, options_.width, random.split("queries"));
  if (to_target_.defined())
    initialise_uniform(to_target_, options_.width, 1, random.split("to_target"));
  if (to_source_.defined())
    initialise_uniform(to_source_, options_.width, 1, random.split("to_source"));
  bias_.zero_();
  if (edge_weight_.defined())
    initialise_uniform(edge_weight_, options_.edge_features,
                       options_.score == "gat" ? 1 : options_.width, random.split("edges"));
  if (skip_weight_.defined())
    initialise_uniform(skip_weight_, options_.inputs, options_.outputs(), random.split("skip"));
}

Tensor GraphLayer::edge_scores(const Seen& seen, const Tensor& keys,
                               const GraphEdges& edges) const {
  const auto& o = options_;
  const auto by_head = [&](const Tensor& rows) { return rows.view({-1, o.heads, o.width}); };
  const Tensor target = edges.targets_of_edges();
  if (o.score == "uniform") return at::zeros({edges.count, o.heads}, keys.options());
  if (o.score == "gatv2") {
    Tensor sums = seen.queries.index_select(0, target) + keys;  // [E, H D]
    if (edge_weight_.defined()) sums = sums + edges.features_of_edges().matmul(edge_weight_.t());
    return (by_head(at::leaky_relu(sums, o.slope)) * to_target_).sum(-1);
  }
  const Tensor lookers = edges.own.defined() ? seen.states.index_select(0, edges.own)
                                             : seen.states.narrow(0, 0, edges.targets);
  const Tensor of_target = (by_head(lookers) * to_target_).sum(-1);  // [T, H]
  const Tensor of_source = (by_head(keys) * to_source_).sum(-1);     // [E, H]
  Tensor sums = of_target.index_select(0, target) + of_source;       // [E, H]
  if (edge_weight_.defined()) sums = sums + edges.features_of_edges().matmul(edge_weight_.t());
  return at::leaky_relu(sums, o.slope);
}

Tensor GraphLayer::mixed(const Seen& seen, const GraphEdges& edges, const GraphTap& at) const {
  const int64_t heads = options_.heads, width = options_.width;
  const Tensor source = edges.sources_of_edges(), target = edges.targets_of_edges();
  Tensor keys = seen.states.index_select(0, source);  // [E, H D]
  std::optional<EdgeGrid> grid;
  if (at.tap && at.neighbours) {
    grid.emplace(edges);
    keys = grid->gather(leaf_of(at.tap, "neighbours", grid->spread(keys)));
  }
  Tensor weights = edge_softmax(edge_scores(seen, keys, edges), edges);  // [E, H]
  if (at.tap)
    weights = at.tap->report({"attention", "nodes", "nodes", MapKind::Distribution,
                              MapLayout::Edges, weights, edges.index(), "", at.layer});
  if (grid) {
    const Tensor dense = grid->spread(weights).transpose(1, 2).unsqueeze(2);  // [T, H, 1, K]
    weights = grid->gather(at.tap
                               ->report({"neighbours",
                                         "",
                                         "neighbours",
                                         MapKind::Distribution,
                                         MapLayout::Dense,
                                         dense,
                                         {},
                                         ""})
                               .squeeze(2)
                               .transpose(1, 2)
                               .contiguous());  // [E, H]
  }
  if (seen.keep.defined()) weights = weights * seen.keep;
  const Tensor values = seen.values.defined() ? seen.values.index_select(0, source) : keys;
  const Tensor terms = (weights.unsqueeze(2) * values.view({-1, heads, width})).flatten(1);
  return at::zeros({edges.targets, heads * width}, terms.options()).index_add(0, target, terms);
}

Tensor GraphLayer::forward(const NodeFeatures& given, const GraphEdges& edges, const Random* random,
                           const GraphTap& tap) const {
  const auto& o = options_;
  const NodeFeatures x = random ? given.dropped(o.dropout, random->split("inputs")) : given;
  Seen seen;
  seen.states = x.times(weight_);  // [S, H D]
  if (query_weight_.defined()) seen.queries = x.rows(edges.targets, edges.own).times(query_weight_);
  if (random && o.value_dropout > 0)
    seen.values = fovea::dropout(seen.states, o.value_dropout, random->split("values"));
  if (random && o.attention_dropout > 0)
    seen.keep = dropout_of_elements(at::ones({edges.count, o.heads}, seen.states.options()),
                                    o.attention_dropout, random->split("attention"));
  require(!edge_weight_.defined() ||
              (edges.features.defined() && edges.features.size(1) == o.edge_features),
          ErrorKind::InvalidArgument, "the batch has ",
          edges.features.defined() ? edges.features.size(1) : 0,
          " features of edges; the layer knows ", o.edge_features);
  const bool fused = !tap.tap && !edges.own.defined() && !edge_weight_.defined() &&
                     kernels_take({seen.states, weight_});
  const Tensor out =
      fused
          ? attend_edges_fused(
                {o.score, o.heads, o.width, o.slope},
                {seen.states, seen.values, seen.queries, to_target_, to_source_, seen.keep}, edges)
          : mixed(seen, edges, tap);  // [T, H D]
  const bool mean = !o.side_by_side && o.heads > 1;
  const Tensor sum = (mean ? out.view({-1, o.heads, o.width}).mean(1) : out) + bias_;
  if (o.skip == "none") return sum;
  const NodeFeatures own = x.rows(edges.targets, edges.own);
  return sum + (skip_weight_.defined() ? own.times(skip_weight_) : own.dense);
}

}  // namespace fovea
