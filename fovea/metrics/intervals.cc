#include "fovea/metrics/intervals.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/metrics/statistics.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace {

constexpr double kNormal975 = 1.959963984540054;  // the 97.5 % point of N(0, 1)
constexpr int64_t kDraws = 4'000'000, kFewest = 200, kMost = 1000;

}  // namespace

Interval wilson_interval(double share, int64_t rows) {
  require(rows > 0 && share >= 0 && share <= 1, ErrorKind::InvalidArgument,
          "an interval needs a share of 0 to 1 of at least one row, found ", share, " of ", rows);
  const double n = double(rows), squared = kNormal975 * kNormal975;
  const double middle = (share + squared / (2 * n)) / (1 + squared / n);
  const double half =
      kNormal975 / (1 + squared / n) * std::sqrt(share * (1 - share) / n + squared / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half), "wilson"};
}

std::optional<Interval> bootstrap_interval(int64_t rows, const ResampledMetric& metric) {
  if (rows < 2) return {};
  const int64_t resamples = std::clamp(kDraws / rows, kFewest, kMost);
  const Random random = Random(0).split("bootstrap");
  std::vector<double> values, times(static_cast<size_t>(rows));
  for (int64_t resample = 0; resample < resamples; ++resample) {
    const Random draws = random.split(uint64_t(resample));
    std::fill(times.begin(), times.end(), 0);
    for (int64_t counter = 0; 4 * counter < rows; ++counter) {  // four rows of one call
      const auto words = draws.words(uint64_t(counter));
      for (int64_t i = 0; i < std::min<int64_t>(4, rows - 4 * counter); ++i)
        ++times[size_t((uint64_t(words[size_t(i)]) * uint64_t(rows)) >> 32)];
    }
    const std::optional<double> value = metric(times);
    if (value && std::isfinite(*value)) values.push_back(*value);
  }
  if (int64_t(values.size()) < resamples / 2) return {};
  std::ranges::sort(values);
  return Interval{sorted_quantile(values, 0.025), sorted_quantile(values, 0.975), "bootstrap"};
}

std::optional<double> ratio_of_sums(std::span<const double> sums) {
  return sums[1] > 0 ? std::optional<double>(sums[0] / sums[1]) : std::nullopt;
}

SummedMetric SummedMetric::in_blocks(int64_t length) const {
  SummedMetric blocks{{}, of_sums};
  for (size_t row = 0; row < rows.size(); ++row) {
    if (row % size_t(length) == 0) blocks.rows.emplace_back(rows[row].size(), 0.0);
    for (size_t k = 0; k < rows[row].size(); ++k) blocks.rows.back()[k] += rows[row][k];
  }
  return blocks;
}

std::optional<Interval> bootstrap_interval(const SummedMetric& metric) {
  if (metric.rows.empty()) return {};
  std::vector<double> sums(metric.rows[0].size());
  return bootstrap_interval(int64_t(metric.rows.size()), [&](std::span<const double> times) {
    std::ranges::fill(sums, 0);
    for (size_t row = 0; row < times.size(); ++row)
      for (size_t k = 0; times[row] > 0 && k < sums.size(); ++k)
        sums[k] += times[row] * metric.rows[row][k];
    return metric.of_sums(sums);
  });
}

}  // namespace fovea
