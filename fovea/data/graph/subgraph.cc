#include "fovea/data/graph/subgraph.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "fovea/base/error.h"

namespace fovea {

namespace {

at::Tensor longs(const std::vector<int64_t>& numbers) {
  const at::Tensor tensor = at::empty({int64_t(numbers.size())}, at::kLong);
  std::copy(numbers.begin(), numbers.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

/// Where nodes of the graph stand among those that were found, -1 for the others. The table is as
/// large as the graph and kept by the thread; only what was written is cleared again.
class Places {
 public:
  explicit Places(int64_t nodes) {
    if (int64_t(table().size()) < nodes) table().resize(size_t(nodes), -1);
  }
  ~Places() {
    for (const int64_t node : written_) table()[size_t(node)] = -1;
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  int64_t operator[](int64_t node) const { return table()[size_t(node)]; }
  void set(int64_t node, int64_t place) {
    table()[size_t(node)] = place;
    written_.push_back(node);
  }

 private:
  static std::vector<int64_t>& table() {
    thread_local std::vector<int64_t> places;
    return places;
  }
  std::vector<int64_t> written_;
};

class Walk {
 public:
  Walk(const Graph& graph, const LookOptions& options)
      : graph_(graph), options_(options), places_(graph.size() + 1) {}

  Subgraph run(std::span<const int64_t> targets) {
    std::vector<int64_t> next(targets.begin(), targets.end());
    for (const int64_t node : next)
      require(node >= 0 && node < graph_.size() + (options_.stranger ? 1 : 0),
              ErrorKind::InvalidArgument, "there is no node ", node);
    found_.begin = {0};
    found_.edge_width = graph_.edge_width();
    add_nodes(next);
    for (int64_t step = 0; step < options_.hops; ++step) {
      const size_t first_edge = found_.source.size();
      const auto first = found_.begin.size() - 1, last = found_.nodes.size();
      next.clear();
      for (size_t place = first; place < last; ++place) {
        add_row(found_.nodes[place]);
        found_.begin.push_back(int64_t(found_.source.size()));
      }
      for (size_t e = first_edge; e < found_.source.size(); ++e)
        if (places_[found_.source[e]] < 0) next.push_back(found_.source[e]);
      add_nodes(next);
      for (size_t e = first_edge; e < found_.source.size(); ++e)
        found_.source[e] = places_[found_.source[e]];
    }
    return std::move(found_);
  }

 private:
  void add_nodes(std::vector<int64_t>& next) {
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    for (const int64_t node : next) {
      places_.set(node, int64_t(found_.nodes.size()));
      found_.nodes.push_back(node);
    }
    found_.reach.push_back(int64_t(found_.nodes.size()));
  }

  /// The node itself, then those it looks at, as numbers of the graph.
  void add_row(int64_t node) {
    around_.clear();
    const NewNode* stranger = options_.stranger;
    if (stranger && node == graph_.size()) {
      around_ = stranger->neighbours;
    } else {
      for (const int64_t other : graph_.neighbours(node))
        if (!options_.seen || (*options_.seen)[size_t(other)]) around_.push_back(other);
      if (stranger && !graph_.directed &&
          std::binary_search(stranger->neighbours.begin(), stranger->neighbours.end(), node))
        around_.push_back(graph_.size());
    }
    if (options_.neighbours > 0 && int64_t(around_.size()) > options_.neighbours) draw(node);
    found_.source.push_back(node);
    found_.source.insert(found_.source.end(), around_.begin(), around_.end());
    if (found_.edge_width > 0) add_edge_values(node);
  }

  void add_edge_values(int64_t node) {
    const auto width = size_t(found_.edge_width);
    const NewNode* stranger = options_.stranger;
    const auto add = [&](std::span<const float> values) {
      found_.edge_value.insert(found_.edge_value.end(), values.begin(), values.end());
      found_.edge_value.resize(found_.edge_value.size() + width - values.size());
    };
    const auto place_in = [](std::span<const int64_t> nodes, int64_t one) {
      return size_t(std::lower_bound(nodes.begin(), nodes.end(), one) - nodes.begin());
    };
    add({});  // the node itself
    for (const int64_t other : around_) {
      const bool own = stranger && node == graph_.size();
      if (!own && other < graph_.size())
        add(graph_.edge_features(node, place_in(graph_.neighbours(node), other)));
      else if (stranger->edges.empty())
        add({});
      else
        add(std::span(stranger->edges)
                .subspan(width * place_in(stranger->neighbours, own ? other : node), width));
    }
  }

  /// Leaves some of `around_`, rising; every choice of so many is equally likely (Floyd).
  void draw(int64_t node) {
    const Random random = options_.random.split(uint64_t(node));
    const size_t all = around_.size(), wanted = size_t(options_.neighbours);
    std::unordered_set<size_t> chosen;
    for (size_t last = all - wanted; last < all; ++last)
      if (!chosen.insert(size_t(random.below(last, last + 1))).second) chosen.insert(last);
    std::vector<size_t> order(chosen.begin(), chosen.end());
    std::sort(order.begin(), order.end());
    std::vector<int64_t> kept;
    for (const size_t place : order) kept.push_back(around_[place]);
    around_ = std::move(kept);
  }

  const Graph& graph_;
  const LookOptions& options_;
  Places places_;
  Subgraph found_;
  std::vector<int64_t> around_;
};

}  // namespace

std::span<const int64_t> Subgraph::row(int64_t place) const {
  const int64_t first = begin.at(size_t(place)), last = begin.at(size_t(place) + 1);
  return std::span(source).subspan(size_t(first), size_t(last - first));
}

void Subgraph::add_to(NamedTensors& tensors) const {
  std::vector<int64_t> target, out_begin(nodes.size() + 1, 0), out_edge(source.size());
  target.reserve(source.size());
  for (size_t row = 0; row + 1 < begin.size(); ++row)
    target.insert(target.end(), size_t(begin[row + 1] - begin[row]), int64_t(row));
  for (const int64_t node : source) ++out_begin[size_t(node) + 1];
  std::partial_sum(out_begin.begin(), out_begin.end(), out_begin.begin());
  std::vector<int64_t> next(out_begin.begin(), out_begin.end() - 1);
  for (size_t e = 0; e < source.size(); ++e)
    out_edge[size_t(next[size_t(source[e])]++)] = int64_t(e);
  tensors["reach"] = longs(reach);
  tensors["edge_begin"] = longs(begin);
  tensors["edge_source"] = longs(source);
  tensors["edge_target"] = longs(target);
  tensors["out_begin"] = longs(out_begin);
  tensors["out_edge"] = longs(out_edge);
  if (edge_width == 0) return;
  const at::Tensor values = at::empty({int64_t(source.size()), edge_width}, at::kFloat);
  std::copy(edge_value.begin(), edge_value.end(), values.data_ptr<float>());
  tensors["edge_features"] = values;
}

Subgraph k_hop_subgraph(const Graph& graph, std::span<const int64_t> targets,
                        const LookOptions& options) {
  require(options.hops >= 1, ErrorKind::InvalidArgument, "a look of ", options.hops,
          " steps; at least 1 is needed");
  return Walk(graph, options).run(targets);
}

}  // namespace fovea
