#include "fovea/explain/record/stability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fovea/base/error.h"
#include "fovea/explain/record/average.h"
#include "fovea/metrics/statistics.h"
#include "fovea/tensor/random.h"

namespace fovea {
namespace {

constexpr const char* k95Percent = "95 % interval";
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// The interval without what a weight of this kind can never be.
void push_interval(MapView& view, double low, double high) {
  const bool is_signed = view.kind == MapKind::Free || view.kind == MapKind::Contribution;
  const auto allowed = [&](double end) {
    return is_signed || std::isnan(end) ? end : std::clamp(end, 0.0, 1.0);
  };
  view.low.push_back(allowed(low));
  view.high.push_back(allowed(high));
}

/// What stays of the first view: its truth where all agree on it, its numbers not.
MapView without_numbers(std::span<const MapView> views) {
  MapView view = views.front();
  for (std::vector<double>* numbers : {&view.weights, &view.spread, &view.low, &view.high})
    numbers->clear();
  const bool agreed =
      std::ranges::all_of(views, [&](const MapView& other) { return other.truth == view.truth; });
  if (!agreed) view.truth.clear();
  return view;
}

/// One row of a view: which example it is from, and where its weights begin.
struct Entry {
  size_t example = 0;
  const double* weights = nullptr;
};

/// The means of one key over the resamples; `counts` says how often each draws each example.
std::vector<double> resampled_means(const std::vector<Entry>& entries, size_t key,
                                    const std::vector<std::vector<int32_t>>& counts) {
  std::vector<double> means;
  for (const std::vector<int32_t>& drawn : counts) {
    double sum = 0, total = 0;
    for (const Entry& entry : entries) {
      const double weight = entry.weights[key];
      if (!std::isfinite(weight)) continue;
      sum += drawn[entry.example] * weight;
      total += drawn[entry.example];
    }
    if (total > 0) means.push_back(sum / total);
  }
  std::ranges::sort(means);
  return means;
}

std::vector<std::vector<int32_t>> draw_examples(size_t examples, const BootstrapOptions& options) {
  const Random random = Random(options.seed).split("bootstrap");
  std::vector<std::vector<int32_t>> counts;
  for (int64_t i = 0; i < options.resamples; ++i) {
    const Random own = random.split(uint64_t(i));
    counts.emplace_back(examples, 0);
    for (size_t n = 0; n < examples; ++n) ++counts.back()[own.below(n, examples)];
  }
  return counts;
}

bool is_same_map(const MapView& left, const MapView& right) {
  return left.name == right.name && left.layer == right.layer && left.head == right.head;
}

}  // namespace

MapView mean_over_seeds(std::span<const MapView> views) {
  require(views.size() >= 2, ErrorKind::InvalidArgument,
          "an interval over seeds needs at least two maps, found ", views.size());
  const MapView& first = views.front();
  for (const MapView& view : views)
    require(view.query_labels == first.query_labels && view.key_labels == first.key_labels &&
                view.layout == first.layout && view.weights.size() == first.weights.size(),
            ErrorKind::Unsupported, "map '", view.name, "' has other labels with another seed (",
            view.queries(), " x ", view.keys(), ", before ", first.queries(), " x ", first.keys(),
            "): such weights have no common interval");
  MapView mean = without_numbers(views);
  for (size_t i = 0; i < first.weights.size(); ++i) {
    std::vector<double> values;
    for (const MapView& view : views)
      if (std::isfinite(view.weights[i])) values.push_back(view.weights[i]);
    const Summary summary = values.empty() ? Summary{} : summarize(values);
    mean.weights.push_back(values.empty() ? kNoValue : summary.mean);
    const double half = summary.interval.value_or(kNoValue);
    push_interval(mean, summary.mean - half, summary.mean + half);
  }
  mean.interval_is = k95Percent;
  mean.interval_of = concat(views.size(), " seeds");
  return mean;
}

Explanation mean_over_seeds(std::span<const Explanation> explanations) {
  require(explanations.size() >= 2, ErrorKind::InvalidArgument,
          "an interval over seeds needs at least two explanations, found ", explanations.size());
  Explanation result = explanations.front();
  result.maps.clear();
  result.answer = nullptr;
  result.shares.clear();
  result.truth.reset();
  result.faithfulness.clear();
  result.prediction = concat("mean over ", explanations.size(), " seeds");
  for (const MapView& map : explanations.front().maps) {
    std::vector<MapView> views;
    for (const Explanation& explanation : explanations)
      for (const MapView& other : explanation.maps)
        if (is_same_map(map, other)) views.push_back(other);
    if (views.size() == explanations.size())
      result.maps.push_back(mean_over_seeds(views));
    else
      result.notes.push_back(concat("map '", map.name, "' is left out: ", views.size(), " of ",
                                    explanations.size(), " seeds have it"));
  }
  return result;
}

MapView mean_with_bootstrap(std::span<const MapView> views, const BootstrapOptions& options) {
  require(!views.empty(), ErrorKind::InvalidArgument,
          "a bootstrap needs at least one map, found none");
  require(options.resamples >= 2, ErrorKind::InvalidArgument,
          "a bootstrap needs at least 2 resamples, found ", options.resamples);
  MapAverage average;
  for (const MapView& view : views) average.add(view);
  MapView mean = average.result();
  mean.low.clear();
  mean.high.clear();
  std::map<std::string, std::vector<Entry>> rows;  // by the label of the query, as MapAverage
  for (size_t example = 0; example < views.size(); ++example)
    for (size_t query = 0; query < views[example].queries(); ++query)
      rows[views[example].query_labels[query]].push_back(
          {example, views[example].weights.data() + query * views[example].keys()});
  const auto counts = draw_examples(views.size(), options);
  for (const std::string& label : mean.query_labels) {
    for (size_t key = 0; key < mean.keys(); ++key) {
      const std::vector<double> means = resampled_means(rows.at(label), key, counts);
      if (means.empty())
        push_interval(mean, kNoValue, kNoValue);
      else
        push_interval(mean, sorted_quantile(means, 0.025), sorted_quantile(means, 0.975));
    }
  }
  mean.interval_is = k95Percent;
  mean.interval_of = concat(format_count(options.resamples), " bootstraps of ",
                            format_count(int64_t(views.size())), " examples");
  return mean;
}

}  // namespace fovea
