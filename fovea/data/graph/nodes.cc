#include "fovea/data/graph/nodes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {

namespace {

using at::Tensor;

std::vector<int64_t> to_longs(const Example& example, const std::string& name) {
  const Tensor& tensor = example.tensors.at(name);
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

/// Rows of features, one after the other, as tensors.
class FeatureTensors {
 public:
  explicit FeatureTensors(bool dense) : dense_(dense) {}

  void add(const FeatureRow& row) {
    index_.insert(index_.end(), row.index.begin(), row.index.end());
    value_.insert(value_.end(), row.value.begin(), row.value.end());
    begin_.push_back(int64_t(value_.size()));
  }

  void add_to(NamedTensors& tensors) const {
    const Tensor value = at::empty({int64_t(value_.size())}, at::kFloat);
    std::copy(value_.begin(), value_.end(), value.data_ptr<float>());
    if (dense_) {
      tensors["features"] = value.view({int64_t(begin_.size()) - 1, -1});  // [M, F]
      return;
    }
    tensors["feature_begin"] = at::tensor(begin_, at::kLong);
    tensors["feature_index"] = at::tensor(index_, at::kLong);
    tensors["feature_value"] = value;
  }

 private:
  bool dense_;
  std::vector<int64_t> begin_{0}, index_;
  std::vector<float> value_;
};

FeatureRow feature_row(const Example& example, int64_t place) {
  const auto dense = example.tensors.find("features");
  if (dense != example.tensors.end()) {
    const float* first = dense->second.data_ptr<float>() + place * dense->second.size(1);
    return {{}, {first, first + dense->second.size(1)}};
  }
  const int64_t* begin = example.tensors.at("feature_begin").data_ptr<int64_t>() + place;
  const int64_t* index = example.tensors.at("feature_index").data_ptr<int64_t>();
  const float* value = example.tensors.at("feature_value").data_ptr<float>();
  return {{index + begin[0], index + begin[1]}, {value + begin[0], value + begin[1]}};
}

/// Of the first node's neighbours as they were given, the places of those that are left: pictures
/// have gaps for the others.
constexpr const char* kLeft = "neighbours.left";

/// Leaves only the edges (row, place in the row, source) for which keep() holds; of the first row
/// the places are those that its neighbours had at first.
template <class Keep>
void keep_edges(Example& example, Keep keep) {
  const std::vector<int64_t> begin = to_longs(example, "edge_begin"),
                             source = to_longs(example, "edge_source");
  std::vector<int64_t> kept_begin{0}, kept, edges, still_left;
  std::vector<int64_t> left(static_cast<size_t>(begin[1]));
  std::iota(left.begin(), left.end(), int64_t{0});
  if (example.tensors.contains(kLeft)) left = to_longs(example, kLeft);
  for (size_t row = 0; row + 1 < begin.size(); ++row) {
    for (int64_t e = begin[row]; e < begin[row + 1]; ++e)
      if (keep(int64_t(row), row == 0 ? left[size_t(e)] : e - begin[row], source[size_t(e)])) {
        kept.push_back(source[size_t(e)]);
        edges.push_back(e);
        if (row == 0) still_left.push_back(left[size_t(e)]);
      }
    kept_begin.push_back(int64_t(kept.size()));
  }
  example.tensors["edge_begin"] = at::tensor(kept_begin, at::kLong);
  example.tensors["edge_source"] = at::tensor(kept, at::kLong);
  example.tensors[kLeft] = at::tensor(still_left, at::kLong);
  if (const auto known = example.tensors.find("edge_features"); known != example.tensors.end())
    known->second = known->second.index_select(0, at::tensor(edges, at::kLong));
}

/// Features of the first node that are among the units become 0.
template <class IsErased>
void clear_features(Example& example, IsErased is_erased) {
  const bool dense = example.tensors.contains("features");
  Tensor& tensor = example.tensors.at(dense ? "features" : "feature_value");
  tensor = tensor.clone();
  const int64_t count =
      dense ? tensor.size(1) : example.tensors.at("feature_begin").data_ptr<int64_t>()[1];
  for (int64_t i = 0; i < count; ++i)
    if (is_erased(i)) tensor.data_ptr<float>()[i] = 0;
}

/// Examples one beside the other: nodes of all by their distance, edges with new places.
Subgraph put_together(std::span<const Example> examples,
                      std::vector<std::pair<size_t, int64_t>>& order) {
  const size_t steps = to_longs(examples[0], "reach").size();
  std::vector<std::vector<int64_t>> reach, places;
  for (const Example& example : examples) {
    reach.push_back(to_longs(example, "reach"));
    require(reach.back().size() == steps, ErrorKind::InvalidArgument,
            "examples of different reach cannot be put together");
    places.emplace_back(size_t(reach.back().back()));
  }
  Subgraph all;
  for (size_t step = 0; step < steps; ++step) {
    for (size_t i = 0; i < examples.size(); ++i)
      for (int64_t place = step == 0 ? 0 : reach[i][step - 1]; place < reach[i][step]; ++place) {
        places[i][size_t(place)] = int64_t(order.size());
        order.emplace_back(i, place);
      }
    all.reach.push_back(int64_t(order.size()));
  }
  all.nodes.resize(order.size());
  all.begin = {0};
  for (int64_t row = 0; row < all.reach[steps - 2]; ++row) {
    const auto [i, place] = order[size_t(row)];
    const int64_t* begin = examples[i].tensors.at("edge_begin").data_ptr<int64_t>() + place;
    const int64_t* source = examples[i].tensors.at("edge_source").data_ptr<int64_t>();
    for (int64_t e = begin[0]; e < begin[1]; ++e)
      all.source.push_back(places[i][size_t(source[e])]);
    if (const auto known = examples[i].tensors.find("edge_features");
        known != examples[i].tensors.end()) {
      all.edge_width = known->second.size(1);
      const float* values = known->second.data_ptr<float>();
      all.edge_value.insert(all.edge_value.end(), values + begin[0] * all.edge_width,
                            values + begin[1] * all.edge_width);
    }
    all.begin.push_back(int64_t(all.source.size()));
  }
  return all;
}

}  // namespace

std::string NodeEncoder::class_of(int64_t node) const {
  if (coding_->kind == AnswerKind::Labels) {
    std::vector<std::string> names;
    if (node < graph_->size())
      for (const int64_t label : graph_->label_sets.at(size_t(node)))
        names.push_back(coding_->classes.at(size_t(label)));
    return join(names, "|");
  }
  const int64_t label = node < graph_->size() ? graph_->labels[size_t(node)] : -1;
  return label < 0 ? "" : coding_->classes.at(size_t(label));
}

NamedTensors NodeEncoder::tensors(const Subgraph& around) const {
  NamedTensors tensors;
  around.add_to(tensors);
  FeatureTensors features(graph_->is_dense());
  for (const int64_t node : around.nodes) features.add(graph_->features(node));
  features.add_to(tensors);
  return tensors;
}

Example NodeEncoder::example(int64_t node, const std::vector<char>* seen) const {
  LookOptions options;
  options.hops = hops_;
  options.seen = seen;
  return described(k_hop_subgraph(*graph_, {&node, 1}, options), nullptr);
}

Example NodeEncoder::example(const DescribedNode& node) const {
  const NewNode stranger{node.neighbours, node.edges};
  LookOptions options;
  options.hops = hops_;
  options.stranger = &stranger;
  const int64_t own = graph_->size();
  return described(k_hop_subgraph(*graph_, {&own, 1}, options), &node);
}

Example NodeEncoder::described(const Subgraph& around, const DescribedNode* stranger) const {
  Example example;
  const auto name_of = [&](int64_t node) {
    return node < graph_->size() ? graph_->name(node) : std::string("the new node");
  };
  Axis nodes{"nodes", "node", {}}, neighbours{"neighbours", "node", {}};
  FeatureTensors features(graph_->is_dense());
  for (const int64_t node : around.nodes) {
    nodes.labels.push_back(name_of(node));
    nodes.values.push_back(class_of(node));
    features.add(node < graph_->size() ? graph_->features(node) : stranger->features);
  }
  for (const int64_t place : around.row(0)) {
    const int64_t node = around.nodes[size_t(place)];
    neighbours.labels.push_back(place == 0 ? name_of(node) + " (itself)" : name_of(node));
    neighbours.values.push_back(class_of(node));
  }
  example.tensors["node"] = at::scalar_tensor(0, at::kLong);
  example.tensors["nodes"] = at::tensor(around.nodes, at::kLong);
  example.tensors["reach"] = at::tensor(around.reach, at::kLong);
  example.tensors["edge_begin"] = at::tensor(around.begin, at::kLong);
  example.tensors["edge_source"] = at::tensor(around.source, at::kLong);
  if (around.edge_width > 0)
    example.tensors["edge_features"] =
        at::tensor(around.edge_value, at::kFloat).view({-1, around.edge_width});  // [E, Fe]
  features.add_to(example.tensors);
  Axis own{"features", "column", {}};
  const FeatureRow row = feature_row(example, 0);
  for (size_t i = 0; i < row.value.size(); ++i) {
    const size_t column = graph_->is_dense() ? i : size_t(row.index[i]);
    own.labels.push_back(coding_->features.columns.at(column));
    own.values.push_back(format_number(double(row.value[i])));
  }
  example.axes = {std::move(nodes), std::move(neighbours), std::move(own)};
  return example;
}

Batch NodeEncoder::collate(std::span<const Example> examples) const {
  Batch batch{{}, int64_t(examples.size())};
  if (examples.empty()) return batch;
  std::vector<std::pair<size_t, int64_t>> order;  // example, place in it
  const Subgraph all = put_together(examples, order);
  all.add_to(batch.tensors);
  FeatureTensors features(graph_->is_dense());
  for (const auto& [i, place] : order) features.add(feature_row(examples[i], place));
  features.add_to(batch.tensors);
  batch.tensors["node"] = at::arange(batch.size, at::kLong);
  std::vector<Tensor> targets;
  for (const Example& example : examples)
    if (example.tensors.contains("target")) targets.push_back(example.tensors.at("target"));
  if (targets.size() == examples.size()) batch.tensors["target"] = at::stack(targets);
  return batch;
}

Example NodeEncoder::erase(const Example& example, const std::string& axis,
                           std::span<const int64_t> units) const {
  require(axis == "neighbours" || axis == "nodes" || axis == "features", ErrorKind::Unsupported,
          "units of the axis '", axis,
          "' cannot be erased; those of neighbours, nodes and features can");
  std::vector<char> erased(example.axis(axis).labels.size(), 0);
  for (const int64_t unit : units) erased.at(size_t(unit)) = 1;
  const auto gone = [&](int64_t unit) { return erased[size_t(unit)] != 0; };
  Example result = example;
  if (units.empty()) return result;
  if (axis == "neighbours")
    keep_edges(result,
               [&](int64_t row, int64_t place, int64_t) { return row > 0 || !gone(place); });
  if (axis == "features") clear_features(result, gone);
  if (axis != "nodes") return result;
  keep_edges(result, [&](int64_t row, int64_t, int64_t source) {
    return (row == 0 || !gone(row)) && (source == 0 || !gone(source));
  });
  if (gone(0)) clear_features(result, [](int64_t) { return true; });
  return result;
}

}  // namespace fovea
