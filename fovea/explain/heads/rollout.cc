#include "fovea/explain/heads/rollout.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"

namespace fovea {
namespace {

using at::Tensor;

/// A_l of each layer [N, N]. A row without any weight has only its residual connection.
std::vector<Tensor> with_residual(std::span<const Tensor> layers) {
  require(!layers.empty(), ErrorKind::InvalidArgument,
          "a stack needs at least one layer, found none");
  std::vector<Tensor> result;
  for (const Tensor& layer : layers) {
    require(layer.defined() && layer.dim() == 2 && layer.size(0) == layer.size(1) &&
                layer.size(0) == layers[0].size(0),
            ErrorKind::InvalidArgument, "layer ", result.size() + 1, " of a stack has shape ",
            layer.defined() ? concat(layer.sizes()) : "none",
            ", expected square layers of one size");
    const Tensor weights = layer.detach().to(at::kCPU, at::kDouble);  // [N, N]
    const bool usable = weights.isfinite().all().item<bool>() && weights.ge(0).all().item<bool>();
    require(usable, ErrorKind::InvalidArgument, "layer ", result.size() + 1,
            " of a stack has a weight that is negative or no number");
    const Tensor sums = weights.sum(1, /*keepdim=*/true);                          // [N, 1]
    const Tensor rows = weights / at::where(sums > 0, sums, at::ones_like(sums));  // [N, N]
    const Tensor self = at::diag_embed(1 - 0.5 * (sums > 0).to(at::kDouble).squeeze(1));
    result.push_back((0.5 * rows + self).contiguous());
  }
  return result;
}

/// Dinic's algorithm on the positions of all layers. Stage 0 is the last layer, stage L the input;
/// edges go from each position of a stage to each of the next one.
class FlowNetwork {
 public:
  explicit FlowNetwork(const std::vector<Tensor>& layers)
      : stages_(layers.size()), size_(size_t(layers[0].size(0))) {
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
      const double* weights = layer->data_ptr<double>();
      capacity_.insert(capacity_.end(), weights, weights + size_ * size_);
    }
  }

  double maximum(size_t from, size_t to) {
    free_ = capacity_;
    used_.assign(capacity_.size(), 0);
    sink_ = stages_ * size_ + to;
    double total = 0;
    while (find_distances(from)) {
      next_.assign((stages_ + 1) * size_, 0);
      while (true) {
        const double pushed = push(from, std::numeric_limits<double>::infinity());
        if (pushed <= kNothing) break;
        total += pushed;
      }
    }
    return total;
  }

 private:
  static constexpr double kNothing = 1e-13;

  /// The n-th neighbour of a node, forwards for n < size_, then backwards, with what can still go
  /// there and the counterpart that takes it back.
  struct Arc {
    size_t node = 0;
    double* room = nullptr;
    double* taken = nullptr;
  };
  Arc arc(size_t node, size_t n) {
    const size_t stage = node / size_, place = node % size_;
    if (n < size_) {
      if (stage == stages_) return {};
      const size_t edge = (stage * size_ + place) * size_ + n;
      return {(stage + 1) * size_ + n, &free_[edge], &used_[edge]};
    }
    if (stage == 0) return {};
    const size_t edge = ((stage - 1) * size_ + n - size_) * size_ + place;
    return {(stage - 1) * size_ + n - size_, &used_[edge], &free_[edge]};
  }

  bool find_distances(size_t from) {
    distance_.assign((stages_ + 1) * size_, -1);
    distance_[from] = 0;
    std::vector<size_t> queue{from};
    for (size_t i = 0; i < queue.size(); ++i) {
      for (size_t n = 0; n < 2 * size_; ++n) {
        const Arc way = arc(queue[i], n);
        if (!way.room || *way.room <= kNothing || distance_[way.node] >= 0) continue;
        distance_[way.node] = distance_[queue[i]] + 1;
        queue.push_back(way.node);
      }
    }
    return distance_[sink_] >= 0;
  }

  double push(size_t node, double amount) {
    if (node == sink_) return amount;
    for (size_t& n = next_[node]; n < 2 * size_; ++n) {
      const Arc way = arc(node, n);
      if (!way.room || *way.room <= kNothing || distance_[way.node] != distance_[node] + 1)
        continue;
      const double pushed = push(way.node, std::min(amount, *way.room));
      if (pushed <= kNothing) continue;
      *way.room -= pushed;
      *way.taken += pushed;
      return pushed;
    }
    return 0;
  }

  size_t stages_, size_, sink_ = 0;
  std::vector<double> capacity_, free_, used_;
  std::vector<int64_t> distance_;
  std::vector<size_t> next_;
};

/// The layers in order, each the mean of its heads [N, N].
std::vector<Tensor> head_means(std::span<const AttentionMap> layers) {
  require(is_stack(layers), ErrorKind::Unsupported,
          layers.empty() ? "" : concat("map '", layers[0].name, "': "),
          "rollout needs two or more dense layers of self-attention without negative weights");
  std::vector<const AttentionMap*> sorted;
  for (const AttentionMap& layer : layers) sorted.push_back(&layer);
  std::ranges::stable_sort(
      sorted, [](const AttentionMap* a, const AttentionMap* b) { return a->layer < b->layer; });
  std::vector<Tensor> result;
  for (const AttentionMap* layer : sorted) {
    require(layer->weights.size(0) == 1, ErrorKind::InvalidArgument, "map '", layer->name,
            "' has weights ", layer->weights.sizes(), ", expected those of one example");
    result.push_back(layer->weights[0].detach().to(at::kCPU, at::kDouble).mean(0));  // [N, N]
  }
  return result;
}

AttentionMap to_map(const AttentionMap& layer, const char* suffix, MapKind kind,
                    const Tensor& weights) {
  AttentionMap map;
  map.name = layer.name + suffix;
  map.query_axis = layer.query_axis;
  map.key_axis = layer.key_axis;
  map.kind = kind;
  map.weights = weights.unsqueeze(0).unsqueeze(0);  // [1, 1, N, N]
  return map;
}

}  // namespace

at::Tensor rollout(std::span<const Tensor> layers) {
  std::vector<Tensor> result;
  for (const Tensor& layer : with_residual(layers))
    result.push_back(result.empty() ? layer : layer.matmul(result.back()));
  return at::stack(result);  // [L, N, N]
}

at::Tensor attention_flow(std::span<const Tensor> layers) {
  FlowNetwork network(with_residual(layers));
  const int64_t size = layers[0].size(0);
  Tensor flow = at::zeros({size, size}, at::kDouble);
  double* place = flow.data_ptr<double>();
  for (int64_t from = 0; from < size; ++from) {
    stop_if_asked();
    for (int64_t to = 0; to < size; ++to) *place++ = network.maximum(size_t(from), size_t(to));
  }
  return flow;
}

bool is_stack(std::span<const AttentionMap> layers) {
  const auto fits = [&](const AttentionMap& layer) {
    return layer.layout == MapLayout::Dense && layer.kind != MapKind::Free &&
           layer.kind != MapKind::Contribution && layer.query_axis == layer.key_axis &&
           layer.key_axis == layers[0].key_axis && layer.weights.dim() == 4 &&
           layer.weights.size(2) == layer.weights.size(3);
  };
  return layers.size() >= 2 && std::ranges::all_of(layers, fits);
}

AttentionMap rollout_map(std::span<const AttentionMap> layers) {
  const std::vector<Tensor> means = head_means(layers);
  const Tensor all = rollout(means);  // [L, N, N]
  return to_map(layers[0], " rollout", MapKind::Distribution, all[all.size(0) - 1]);
}

}  // namespace fovea
