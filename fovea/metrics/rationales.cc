#include "fovea/metrics/rationales.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

/// Units begin … end-1.
struct Run {
  int64_t begin = 0, end = 0;
};

std::vector<Run> find_runs(std::span<const char> marks) {
  std::vector<Run> runs;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (!marks[i]) continue;
    const auto at = int64_t(i);
    if (runs.empty() || runs.back().end != at) runs.push_back({at, at});
    runs.back().end = at + 1;
  }
  return runs;
}

double overlap(const Run& left, const Run& right) {
  const int64_t common = std::min(left.end, right.end) - std::max(left.begin, right.begin);
  if (common <= 0) return 0;
  const int64_t all = left.end - left.begin + right.end - right.begin - common;
  return double(common) / double(all);
}

/// The share of `runs` that overlap one of `others` enough; 0 of none.
double hit_share(const std::vector<Run>& runs, const std::vector<Run>& others, double threshold) {
  const auto hits = std::ranges::count_if(runs, [&](const Run& run) {
    return std::ranges::any_of(others,
                               [&](const Run& other) { return overlap(run, other) >= threshold; });
  });
  return runs.empty() ? 0 : double(hits) / double(runs.size());
}

int64_t count_marks(std::span<const char> marks) {
  return std::ranges::count_if(marks, [](char mark) { return mark != 0; });
}

void check_same_size(size_t units, size_t marks) {
  require(units == marks, ErrorKind::InvalidArgument,
          "an agreement needs one mark per unit, found ", units, " units and ", marks, " marks");
}

}  // namespace

std::optional<double> auprc(std::span<const double> weights, std::span<const char> marks) {
  check_same_size(weights.size(), marks.size());
  const int64_t marked = count_marks(marks);
  if (marked == 0) return {};
  if (std::ranges::any_of(weights, [](double x) { return std::isnan(x); })) return {};
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order,
                    [&](size_t left, size_t right) { return weights[left] > weights[right]; });
  double area = 0, found = 0, found_before = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    found += marks[order[i]] ? 1 : 0;
    if (i + 1 < order.size() && weights[order[i + 1]] == weights[order[i]]) continue;
    area += (found - found_before) / double(marked) * found / double(i + 1);
    found_before = found;
  }
  return area;
}

std::optional<double> token_f1(std::span<const char> chosen, std::span<const char> marks) {
  check_same_size(chosen.size(), marks.size());
  const int64_t marked = count_marks(marks);
  if (marked == 0) return {};
  double both = 0;
  for (size_t i = 0; i < marks.size(); ++i) both += chosen[i] && marks[i] ? 1 : 0;
  return 2 * both / double(count_marks(chosen) + marked);
}

std::optional<double> iou_f1(std::span<const char> chosen, std::span<const char> marks,
                             double threshold) {
  check_same_size(chosen.size(), marks.size());
  require(threshold > 0 && threshold <= 1, ErrorKind::InvalidArgument,
          "the overlap that is asked for lies in 0..1, found ", threshold);
  const std::vector<Run> chosen_runs = find_runs(chosen), marked_runs = find_runs(marks);
  if (marked_runs.empty()) return {};
  const double precise = hit_share(chosen_runs, marked_runs, threshold);
  const double complete = hit_share(marked_runs, chosen_runs, threshold);
  return precise + complete > 0 ? 2 * precise * complete / (precise + complete) : 0;
}

}  // namespace fovea
