#include "fovea/data/graph/graph.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/stored_columns.h"

namespace fovea {

namespace {

using at::Tensor;

template <class Value>
Tensor to_tensor(const std::vector<Value>& values, at::ScalarType type) {
  Tensor tensor = at::empty({int64_t(values.size())}, type);
  std::copy(values.begin(), values.end(), tensor.data_ptr<Value>());
  return tensor;
}

/// Whether [0, …, size] never falls and has `rows` + 1 entries.
bool are_offsets(const std::vector<int64_t>& begin, size_t rows, size_t size) {
  return begin.size() == rows + 1 && begin.front() == 0 && begin.back() == int64_t(size) &&
         std::is_sorted(begin.begin(), begin.end());
}

bool are_below(const std::vector<int64_t>& numbers, int64_t bound) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](int64_t number) { return number >= 0 && number < bound; });
}

}  // namespace

Graph::Graph(std::vector<std::string> names, std::span<const std::pair<int64_t, int64_t>> edges,
             bool is_directed, EdgeCounts& counts)
    : directed(is_directed), labels(names.size(), -1), names_(std::move(names)) {
  number_names();
  counts = {int64_t(edges.size())};
  const size_t nodes = names_.size();
  std::vector<int64_t> degrees(nodes + 1, 0);
  const auto for_each = [&](auto work) {
    for (size_t edge = 0; edge < edges.size(); ++edge) {
      const auto& [source, target] = edges[edge];
      if (source == target) continue;
      work(size_t(target), source, int64_t(edge));
      if (!directed) work(size_t(source), target, int64_t(edge));
    }
  };
  for (const auto& [source, target] : edges) counts.self_loops += source == target;
  for_each([&](size_t looker, int64_t, int64_t) { ++degrees[looker + 1]; });
  std::partial_sum(degrees.begin(), degrees.end(), degrees.begin());
  std::vector<std::pair<int64_t, int64_t>> all(size_t(degrees.back()));  // other node, edge
  std::vector<int64_t> next(degrees.begin(), degrees.end() - 1);
  for_each([&](size_t looker, int64_t other, int64_t edge) {
    all[size_t(next[looker]++)] = {other, edge};
  });
  neighbours_.reserve(all.size());
  edge_of_.reserve(all.size());
  std::vector<char> touched(nodes, 0);
  for (size_t node = 0; node < nodes; ++node) {
    const auto first = all.begin() + degrees[node], last = all.begin() + degrees[node + 1];
    std::sort(first, last);
    for (auto place = first; place != last; ++place) {
      if (place != first && place->first == (place - 1)->first) continue;
      neighbours_.push_back(place->first);
      edge_of_.push_back(place->second);
      touched[node] = touched[size_t(place->first)] = 1;
    }
    begin_.push_back(int64_t(neighbours_.size()));
  }
  const int64_t repeated = int64_t(all.size() - neighbours_.size());
  counts.repeated = directed ? repeated : repeated / 2;
  counts.isolated = std::count(touched.begin(), touched.end(), 0);
}

void Graph::number_names() {
  numbers_.reserve(names_.size());
  for (size_t node = 0; node < names_.size(); ++node) numbers_.emplace(names_[node], int64_t(node));
}

int64_t Graph::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

std::span<const int64_t> Graph::neighbours(int64_t node) const {
  const int64_t first = begin_.at(size_t(node)), last = begin_.at(size_t(node) + 1);
  return std::span(neighbours_).subspan(size_t(first), size_t(last - first));
}

void Graph::set_edge_features(const ReadGraph& read, const EdgeCoding& coding) {
  edge_width_ = coding.width();
  std::vector<size_t> places;  // of the coding's columns in the file
  for (const std::string& column : coding.columns) {
    const auto found = std::find(read.edge_columns.begin(), read.edge_columns.end(), column);
    require(found != read.edge_columns.end(), ErrorKind::BadData,
            "the edges of this graph have no column '", column, "', which the run learned from",
            read.edge_columns.empty() ? "" : concat("; they have: ", join(read.edge_columns)));
    places.push_back(size_t(found - read.edge_columns.begin()));
  }
  edge_value_.clear();
  edge_value_.reserve(edge_width_ == 0 ? 0 : edge_of_.size() * size_t(edge_width_));
  if (edge_width_ > 0)
    for (const int64_t edge : edge_of_)
      for (size_t c = 0; c < places.size(); ++c)
        edge_value_.push_back(coding.scaled(
            read.edge_values[size_t(edge) * read.edge_columns.size() + places[c]], c));
}

std::span<const float> Graph::edge_features(int64_t node, size_t place) const {
  const size_t first = size_t(begin_.at(size_t(node))) + place, width = size_t(edge_width_);
  return std::span(edge_value_).subspan(first * width, width);
}

int64_t Graph::set_features(const RawFeatures& raw, const FeatureCoding& coding) {
  require(raw.dense == coding.dense, ErrorKind::BadData, "the features of this graph are ",
          raw.dense ? "dense" : "sparse", ", those that the run learned from are ",
          coding.dense ? "dense" : "sparse");
  dense_ = coding.dense;
  width_ = coding.width();
  std::vector<int64_t> places;  // of the file's columns
  for (const std::string& column : raw.columns) places.push_back(coding.find(column));
  if (dense_)
    for (const std::string& column : coding.columns)
      require(std::find(raw.columns.begin(), raw.columns.end(), column) != raw.columns.end(),
              ErrorKind::BadData, "the features of this graph have no column '", column,
              "', which the run learned from; they have: ", join(raw.columns));
  int64_t unknown = 0;
  feature_begin_ = {0};
  for (size_t node = 0; node < names_.size(); ++node) {
    FeatureRow row;
    if (dense_) {
      row.value.resize(size_t(width_));
      for (size_t c = 0; c < places.size(); ++c)
        if (places[c] >= 0) row.value[size_t(places[c])] = raw.value[node * places.size() + c];
    } else {
      std::vector<std::pair<int64_t, float>> entries;
      for (int64_t n = raw.begin[node]; n < raw.begin[node + 1]; ++n) {
        const int64_t place = places[size_t(raw.index[size_t(n)])];
        unknown += place < 0;
        if (place >= 0) entries.emplace_back(place, raw.value[size_t(n)]);
      }
      std::sort(entries.begin(), entries.end());
      for (const auto& [place, value] : entries)
        row.index.push_back(place), row.value.push_back(value);
    }
    coding.scale(row);
    feature_index_.insert(feature_index_.end(), row.index.begin(), row.index.end());
    feature_value_.insert(feature_value_.end(), row.value.begin(), row.value.end());
    feature_begin_.push_back(int64_t(feature_value_.size()));
  }
  return unknown;
}

FeatureRow Graph::features(int64_t node) const {
  const auto first = feature_begin_.at(size_t(node)), last = feature_begin_.at(size_t(node) + 1);
  FeatureRow row;
  if (!dense_) row.index.assign(feature_index_.begin() + first, feature_index_.begin() + last);
  row.value.assign(feature_value_.begin() + first, feature_value_.begin() + last);
  return row;
}

std::map<std::string, Tensor> Graph::to_tensors() const {
  std::map<std::string, Tensor> tensors{
      {"begin", to_tensor(begin_, at::kLong)},
      {"neighbours", to_tensor(neighbours_, at::kLong)},
      {"labels", to_tensor(labels, at::kLong)},
      {"feature_begin", to_tensor(feature_begin_, at::kLong)},
      {"feature_index", to_tensor(feature_index_, at::kLong)},
      {"feature_value", to_tensor(feature_value_, at::kFloat)},
      {"feature_width", at::full({1}, dense_ ? -width_ : width_, at::kLong)}};
  if (edge_width_ > 0) tensors["edge_value"] = to_tensor(edge_value_, at::kFloat);
  if (!label_sets.empty()) {
    std::vector<int64_t> begin{0}, all;
    for (const std::vector<int64_t>& own : label_sets) {
      all.insert(all.end(), own.begin(), own.end());
      begin.push_back(int64_t(all.size()));
    }
    tensors["label_begin"] = to_tensor(begin, at::kLong);
    tensors["label_index"] = to_tensor(all, at::kLong);
  }
  return tensors;
}

Graph Graph::from_tensors(std::vector<std::string> names, bool directed,
                          const std::map<std::string, Tensor>& tensors, const std::string& where) {
  Graph graph;
  graph.names_ = std::move(names);
  graph.directed = directed;
  graph.number_names();
  const auto longs = [&](const char* name) {
    return column_values<int64_t>(tensors, name, at::kLong, where);
  };
  const size_t nodes = graph.names_.size();
  require(graph.numbers_.size() == nodes, ErrorKind::BadData, where, ": a node is named twice");
  graph.begin_ = longs("begin");
  graph.neighbours_ = longs("neighbours");
  graph.labels = longs("labels");
  graph.feature_begin_ = longs("feature_begin");
  graph.feature_index_ = longs("feature_index");
  graph.feature_value_ = column_values<float>(tensors, "feature_value", at::kFloat, where);
  const std::vector<int64_t> width = longs("feature_width");
  require(width.size() == 1 && width[0] != 0, ErrorKind::BadData, where,
          ": 'feature_width' must be one number");
  graph.dense_ = width[0] < 0;
  graph.width_ = std::abs(width[0]);
  require(are_offsets(graph.begin_, nodes, graph.neighbours_.size()) &&
              are_below(graph.neighbours_, int64_t(nodes)) && graph.labels.size() == nodes,
          ErrorKind::BadData, where, ": the edges do not fit the ", nodes, " nodes");
  const bool fits = are_offsets(graph.feature_begin_, nodes, graph.feature_value_.size()) &&
                    (graph.dense_ ? graph.feature_index_.empty() &&
                                        graph.feature_value_.size() == nodes * size_t(graph.width_)
                                  : graph.feature_index_.size() == graph.feature_value_.size() &&
                                        are_below(graph.feature_index_, graph.width_));
  require(fits, ErrorKind::BadData, where, ": the features do not fit the ", nodes, " nodes");
  if (tensors.contains("edge_value")) {
    graph.edge_value_ = column_values<float>(tensors, "edge_value", at::kFloat, where);
    const size_t edges = std::max<size_t>(graph.neighbours_.size(), 1);
    graph.edge_width_ = int64_t(graph.edge_value_.size() / edges);
    require(graph.edge_value_.size() == size_t(graph.edge_width_) * graph.neighbours_.size(),
            ErrorKind::BadData, where, ": 'edge_value' does not fit the ", edges, " edges");
  }
  if (tensors.contains("label_begin")) {
    const std::vector<int64_t> begin = longs("label_begin"), all = longs("label_index");
    require(are_offsets(begin, nodes, all.size()), ErrorKind::BadData, where,
            ": the labels do not fit the ", nodes, " nodes");
    for (size_t node = 0; node < nodes; ++node)
      graph.label_sets.emplace_back(all.begin() + begin[node], all.begin() + begin[node + 1]);
  }
  return graph;
}

}  // namespace fovea
