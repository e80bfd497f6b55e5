#include "fovea/explain/faithfulness/erasing.h"

#include <algorithm>
#include <cmath>

#include "fovea/metrics/statistics.h"

namespace fovea::faithfulness {
namespace {

std::span<const int64_t> first_units(const Order& order, int64_t count) {
  return std::span(order).first(size_t(count));
}

std::span<const int64_t> remaining_units(const Order& order, int64_t count) {
  return std::span(order).subspan(size_t(count));
}

/// Calls visit(unit, order) for each claim and each of its orders.
template <class Visit>
void for_each_order(const Claims& claims, const Orders& orders, Visit visit) {
  for (size_t claim = 0; claim < claims.list.size(); ++claim) {
    const int64_t unit = claims.list[claim].unit;
    if (!orders.shared) visit(unit, orders.list[claim]);
    if (orders.shared)
      for (const Order& order : orders.list) visit(unit, order);
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

void want_orders(Erasures& erasures, const Orders& orders, std::span<const int64_t> counts) {
  for (const Order& order : orders.list) {
    for (const int64_t count : counts) {
      erasures.want(first_units(order, count));
      erasures.want(remaining_units(order, count));
    }
  }
}

Aopc measure_aopc(const Subject& subject, const Erasures& erasures, const Claims& claims,
                  const Orders& orders, std::span<const int64_t> counts) {
  RunningStatistics comprehensiveness, sufficiency;
  for_each_order(claims, orders, [&](int64_t unit, const Order& order) {
    for (const int64_t count : counts) {
      comprehensiveness.add(subject.drop(unit, erasures.without(first_units(order, count))));
      sufficiency.add(subject.drop(unit, erasures.without(remaining_units(order, count))));
    }
  });
  if (comprehensiveness.count() == 0) return {};
  return {comprehensiveness.mean(), sufficiency.mean()};
}

Curves measure_curves(const Subject& subject, const Erasures& erasures, const Claims& claims,
                      const Orders& orders, std::span<const int64_t> counts) {
  std::vector<RunningStatistics> deletion(counts.size()), insertion(counts.size());
  for_each_order(claims, orders, [&](int64_t unit, const Order& order) {
    for (size_t i = 0; i < counts.size(); ++i) {
      deletion[i].add(subject.level(unit, erasures.without(first_units(order, counts[i]))));
      insertion[i].add(subject.level(unit, erasures.without(remaining_units(order, counts[i]))));
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
