#include "fovea/explain/record/average.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr size_t kPredictTogether = 256;

/// What is wrong with a map: the first complaint about it, and for how many examples there was one.
struct Complaint {
  std::string text;
  int64_t count = 0;
};

void note_problem(const AttentionMap& map, std::map<std::string, Complaint>& complaints) {
  std::string text;
  if (map.layout != MapLayout::Dense) {
    text = concat("map '", map.name, "' is not drawn: its layout is ", name_of(map.layout));
  } else if (const std::string problem = check_map(map); !problem.empty()) {
    text = concat("map '", map.name, "' (", name_of(map.kind),
                  ") is not what it should be, for example: ", problem);
  }
  if (text.empty()) return;
  Complaint& complaint = complaints[map.name];
  if (complaint.count++ == 0) complaint.text = text;
}

}  // namespace

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

Explanation explain_average(const Predictor& predictor, std::span<const Example> examples,
                            const ExplainOptions& options) {
  require(!examples.empty(), ErrorKind::InvalidArgument,
          "an average needs at least one example, found none");
  std::vector<std::string> names;  // in the order in which the maps were reported
  std::map<std::string, MapAverage> averages;
  std::map<std::string, Complaint> complaints;
  Tap tap;
  for (size_t start = 0; start < examples.size(); start += kPredictTogether) {
    const auto part = examples.subspan(start, std::min(kPredictTogether, examples.size() - start));
    const std::vector<Prediction> predictions = predictor.predict(part);
    require(predictions.size() == part.size(), ErrorKind::Internal, part.size(), " examples gave ",
            predictions.size(), " predictions");
    for (size_t i = 0; i < part.size(); ++i) {
      tap.clear();
      predictor.replay(part[i], predictions[i], tap);
      // Its notes are not needed: an average shows only truth that never changes.
      const Example described =
          describe_example(predictor, part[i], predictions[i], tap.maps()).example;
      for (const AttentionMap& map : tap.maps()) {
        note_problem(map, complaints);
        if (map.layout != MapLayout::Dense) continue;
        if (averages.find(map.name) == averages.end()) names.push_back(map.name);
        averages[map.name].add(make_view(map, described, options));
      }
    }
  }

  Explanation explanation;
  explanation.task = options.task;
  explanation.title = options.title;
  const std::string total = format_count(int64_t(examples.size()));
  explanation.prediction =
      concat("mean over ", total, examples.size() == 1 ? " example" : " examples");
  for (const std::string& name : names) explanation.maps.push_back(averages[name].result());
  group_free_maps(explanation.maps);
  for (const auto& [name, complaint] : complaints)
    explanation.notes.push_back(
        concat(complaint.text, " (", format_count(complaint.count), " of ", total, " examples)"));
  return explanation;
}

}  // namespace fovea
