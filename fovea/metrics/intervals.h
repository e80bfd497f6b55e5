// How well a metric is known from so many rows: 95 % intervals. The same rows give the same
// interval, always.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace fovea {

struct Interval {
  double low = 0, high = 0;
  const char* method = "";  // "wilson", "bootstrap"
  /// Half its width: what stands behind ±.
  double half() const { return (high - low) / 2; }
};

/// Wilson 1927, for a share of `rows` independent rows: right near 0 and 1 too.
Interval wilson_interval(double share, int64_t rows);

/// A metric of a resample in which row i occurs times[i] times; nothing where it is not defined.
using ResampledMetric = std::function<std::optional<double>(std::span<const double> times)>;

/// Efron 1979: the 2.5 and 97.5 % points over resamples of the rows, 200 to 1,000 of them by the
/// number of rows. Nothing for fewer than two rows, or where most resamples have no value.
std::optional<Interval> bootstrap_interval(int64_t rows, const ResampledMetric& metric);

}  // namespace fovea
