#include "fovea/explain/record/average.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/record/labels.h"

namespace fovea {

void MapAverage::add(const MapView& view) {
  check_sizes(view);
  if (!started_) {
    first_ = view;
    started_ = true;
  }
  require(view.key_labels == first_.key_labels, ErrorKind::Unsupported, "map '", view.name,
          "' has other keys on axis '", view.key_axis, "' in each example (", view.keys(),
          " here, ", first_.keys(),
          " before), so its weights have no common mean; explain one input instead");
  same_queries_ = same_queries_ && view.query_labels == first_.query_labels;
  for (size_t query = 0; query < view.queries(); ++query) {
    const auto [place, is_new] = row_of_.try_emplace(view.query_labels[query], rows_.size());
    std::vector<char> truth;
    if (!view.truth.empty())
      truth.assign(view.truth.begin() + std::ptrdiff_t(query * view.keys()),
                   view.truth.begin() + std::ptrdiff_t((query + 1) * view.keys()));
    if (is_new)
      rows_.push_back(
          {view.query_labels[query], std::vector<RunningStatistics>(view.keys()), truth});
    Row& row = rows_[place->second];
    row.truth_is_fixed = row.truth_is_fixed && row.truth == truth;
    for (size_t key = 0; key < view.keys(); ++key)
      if (std::isfinite(view.weight(query, key))) row.keys[key].add(view.weight(query, key));
  }
}

MapView MapAverage::result() const {
  require(started_, ErrorKind::InvalidArgument, "an average needs at least one map, found none");
  std::vector<size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!same_queries_)
    std::ranges::sort(order, [&](size_t left, size_t right) {
      return natural_less(rows_[left].label, rows_[right].label);
    });

  MapView result = first_;
  if (!same_queries_) result.group = first_.query_axis;
  result.query_labels.clear();
  result.weights.clear();
  result.spread.clear();
  result.truth.clear();
  const bool has_truth = std::ranges::all_of(
      rows_, [](const Row& row) { return row.truth_is_fixed && !row.truth.empty(); });
  for (const size_t index : order) {
    const Row& row = rows_[index];
    result.query_labels.push_back(row.label);
    for (const RunningStatistics& key : row.keys) {
      const bool has_value = key.count() > 0;
      result.weights.push_back(has_value ? key.mean() : std::numeric_limits<double>::quiet_NaN());
      result.spread.push_back(has_value ? key.deviation() : 0);
    }
    if (has_truth) result.truth.insert(result.truth.end(), row.truth.begin(), row.truth.end());
  }
  return result;
}

}  // namespace fovea
