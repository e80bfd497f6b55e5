// How well a metric is known from so many rows: 95 % intervals. The same rows give the same
// interval, always.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

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

/// The first sum divided by the second: a mean, a share, an error rate.
std::optional<double> ratio_of_sums(std::span<const double> sums);

/// A metric that follows from sums over the rows: BLEU from counts of n-grams, an error rate from
/// edits and lengths. Resamples add up what each row adds; no text is looked at again.
struct SummedMetric {
  std::vector<std::vector<double>> rows;  // what each adds
  std::function<std::optional<double>(std::span<const double> sums)> of_sums = ratio_of_sums;

  /// So many rows in a row as one: of rows that depend on their neighbours, blocks are resampled
  /// (Kuensch 1989).
  SummedMetric in_blocks(int64_t length) const;
};

std::optional<Interval> bootstrap_interval(const SummedMetric& metric);

}  // namespace fovea
