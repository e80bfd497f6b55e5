#include "fovea/tensor/attention_map.h"

#include "fovea/base/text.h"
#include "fovea/tensor/torch.h"

namespace fovea {

const char* name_of(MapKind kind) {
  switch (kind) {
    case MapKind::Distribution:
      return "distribution";
    case MapKind::Partial:
      return "partial";
    case MapKind::Gate:
      return "gate";
    case MapKind::Free:
      return "free";
    case MapKind::Contribution:
      return "contribution";
  }
  return "free";
}

const char* name_of(MapLayout layout) {
  switch (layout) {
    case MapLayout::Dense:
      return "dense";
    case MapLayout::Edges:
      return "edges";
    case MapLayout::Points:
      return "points";
  }
  return "dense";
}

int64_t heads_of(const AttentionMap& map) {
  if (map.source) return map.source->sizes()[1];
  return map.weights.defined() && map.weights.dim() > 1 ? map.weights.size(1) : 1;
}

at::Tensor head_of(const AttentionMap& map, int64_t example, int64_t head) {
  if (!map.source) return map.weights[example][head];
  return map.source->rows(example, head, 0, map.source->sizes()[2]);
}

at::Tensor dense_weights(const AttentionMap& map) {
  if (!map.source) return map.weights;
  const auto [batch, heads, queries, keys] = map.source->sizes();
  std::vector<at::Tensor> all;
  for (int64_t example = 0; example < batch; ++example)
    for (int64_t head = 0; head < heads; ++head) all.push_back(head_of(map, example, head));
  return torch::stack(all).view({batch, heads, queries, keys});
}

namespace {

/// Rows of an edge list are the edges that share a query; a query without edges has no row.
/// [queries that occur, H]
at::Tensor edge_sums(const at::Tensor& queries, const at::Tensor& weights) {
  const auto [occurring, row_of_edge, counts] =
      at::unique_dim(queries, 0, /*sorted=*/true, /*return_inverse=*/true);
  return torch::zeros({occurring.size(0), weights.size(1)}, weights.options())
      .index_add(0, row_of_edge, weights);
}

std::string check_rows(const AttentionMap& map, const at::Tensor& weights, const at::Tensor& keep,
                       double tolerance) {
  at::Tensor sums = map.layout == MapLayout::Edges ? edge_sums(map.index[0], weights)
                                                   : weights.sum(-1);  // [B, H, Q]
  if (keep.defined() && map.layout == MapLayout::Dense)  // a padding query has no row either
    sums = sums.masked_select(keep.ne(0).any(-1).unsqueeze(1).expand_as(sums));
  if (sums.numel() == 0) return "";
  const double largest = sums.max().item<double>(), smallest = sums.min().item<double>();
  if (largest > 1 + tolerance) return concat("a row sums to ", largest, ", more than 1");
  if (map.kind == MapKind::Distribution && smallest < 1 - tolerance)
    return concat("a row sums to ", smallest, ", not 1");
  return "";
}

}  // namespace

std::string check_map(const AttentionMap& map, const at::Tensor& keep, double tolerance) {
  if (map.source) {
    AttentionMap whole = map;
    whole.weights = dense_weights(map);
    whole.source = nullptr;
    return check_map(whole, keep, tolerance);
  }
  if (!map.weights.defined()) return "there are no weights";
  const int64_t dimensions = map.layout == MapLayout::Edges ? 2 : 4;
  if (map.weights.dim() != dimensions)
    return concat("weights have ", map.weights.dim(), " dimensions, the ", name_of(map.layout),
                  " layout has ", dimensions);
  if (map.layout == MapLayout::Edges &&
      (!map.index.defined() || map.index.dim() != 2 || map.index.size(0) != 2 ||
       map.index.size(1) != map.weights.size(0)))
    return concat("an edges map with ", map.weights.size(0), " weights needs an index [2, ",
                  map.weights.size(0), "]");
  if (map.weights.numel() == 0) return "";
  const at::Tensor weights = map.weights.detach().to(torch::kFloat64);
  if (!weights.isfinite().all().item<bool>()) return "a weight is NaN or infinite";
  if (map.layout == MapLayout::Points) return "";
  const bool dense_keep = keep.defined() && map.layout == MapLayout::Dense;
  if (dense_keep && (keep.dim() != 3 || keep.size(0) != weights.size(0) ||
                     keep.size(1) != weights.size(2) || keep.size(2) != weights.size(3)))
    return concat("keep has shape ", keep.sizes(), ", the weights ", weights.sizes());
  if (dense_keep && weights.masked_select(keep.logical_not().unsqueeze(1).expand_as(weights))
                        .ne(0)
                        .any()
                        .item<bool>())
    return "a weight lies on padding";
  const bool bounded = map.kind != MapKind::Free && map.kind != MapKind::Contribution;
  if (bounded && weights.min().item<double>() < -tolerance)
    return concat("a weight is negative: ", weights.min().item<double>());
  if (map.kind == MapKind::Gate && weights.max().item<double>() > 1 + tolerance)
    return "a gate is above 1";
  if (map.kind == MapKind::Distribution || map.kind == MapKind::Partial)
    return check_rows(map, weights, keep, tolerance);
  return "";
}

}  // namespace fovea
