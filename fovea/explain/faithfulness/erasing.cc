#include "fovea/explain/faithfulness/erasing.h"

#include <algorithm>
#include <cmath>

#include "fovea/metrics/statistics.h"

namespace fovea::faithfulness {
namespace {

std::span<const int64_t> first_units(const Ranking& ranking, int64_t count) {
  return std::span(ranking).first(size_t(count));
}

std::span<const int64_t> remaining_units(const Ranking& ranking, int64_t count) {
  return std::span(ranking).subspan(size_t(count));
}

/// Calls visit(unit, ranking) for each attribution and each of its rankings.
template <class Visit>
void for_each_ranking(const Attributions& attributions, const Rankings& rankings, Visit visit) {
  for (size_t attribution = 0; attribution < attributions.list.size(); ++attribution) {
    const int64_t unit = attributions.list[attribution].unit;
    if (!rankings.shared) visit(unit, rankings.list[attribution]);
    if (rankings.shared)
      for (const Ranking& ranking : rankings.list) visit(unit, ranking);
  }
}

std::vector<double> to_means(const std::vector<RunningStatistics>& points) {
  std::vector<double> means;
  for (const RunningStatistics& point : points)
    if (point.count() > 0) means.push_back(point.mean());
  return means;
}

}  // namespace

Steps rationale_steps(std::span<const double> bins, std::span<const double> x, int64_t units) {
  const auto share = [&](double part) { return std::llround(part * double(units)); };
  Steps steps;
  for (const double bin : bins)
    steps.bins.push_back(std::clamp<int64_t>(share(bin), std::min<int64_t>(1, units), units));
  for (const double part : x) steps.points.push_back(std::clamp<int64_t>(share(part), 0, units));
  return steps;
}

void request_rankings(Erasures& erasures, const Rankings& rankings,
                      std::span<const int64_t> counts) {
  for (const Ranking& ranking : rankings.list) {
    for (const int64_t count : counts) {
      erasures.request(first_units(ranking, count));
      erasures.request(remaining_units(ranking, count));
    }
  }
}

Aopc measure_aopc(const Instance& instance, const Erasures& erasures,
                  const Attributions& attributions, const Rankings& rankings,
                  std::span<const int64_t> counts) {
  RunningStatistics comprehensiveness, sufficiency;
  for_each_ranking(attributions, rankings, [&](int64_t unit, const Ranking& ranking) {
    for (const int64_t count : counts) {
      comprehensiveness.add(instance.drop(unit, erasures.without(first_units(ranking, count))));
      sufficiency.add(instance.drop(unit, erasures.without(remaining_units(ranking, count))));
    }
  });
  if (comprehensiveness.count() == 0) return {};
  return {comprehensiveness.mean(), sufficiency.mean()};
}

Curves measure_curves(const Instance& instance, const Erasures& erasures,
                      const Attributions& attributions, const Rankings& rankings,
                      std::span<const int64_t> counts) {
  std::vector<RunningStatistics> deletion(counts.size()), insertion(counts.size());
  for_each_ranking(attributions, rankings, [&](int64_t unit, const Ranking& ranking) {
    for (size_t i = 0; i < counts.size(); ++i) {
      deletion[i].add(instance.level(unit, erasures.without(first_units(ranking, counts[i]))));
      insertion[i].add(instance.level(unit, erasures.without(remaining_units(ranking, counts[i]))));
    }
  });
  return {to_means(deletion), to_means(insertion)};
}

std::optional<double> area_under(std::span<const double> x, std::span<const double> values) {
  if (x.size() < 2 || values.size() != x.size()) return {};
  double area = 0;
  for (size_t i = 1; i < x.size(); ++i) area += (x[i] - x[i - 1]) * (values[i] + values[i - 1]) / 2;
  return area;
}

}  // namespace fovea::faithfulness
