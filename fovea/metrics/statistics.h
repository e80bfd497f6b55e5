// One number over several seeds, or one weight over many rows: centre, spread, and how well the
// mean is known. The 95 % interval of the mean is  mean ± t(0.975; n - 1) s / sqrt(n)  with
// Student's t, which matters for the handful of seeds that people run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace fovea {

struct Summary {
  int64_t count = 0;
  double mean = 0;
  double median = 0;
  double minimum = 0;
  double maximum = 0;
  std::optional<double> deviation;  // with n - 1; needs two values
  std::optional<double>
      interval;  // half the width of the 95 % interval of the mean; needs two values
};

/// InvalidArgument when there are no values or one of them is not finite.
Summary summarize(std::span<const double> values);

/// The t below which a share `probability` (in 0..1, open) of Student's distribution with that many
/// degrees of freedom lies.
double student_t_quantile(double probability, double degrees_of_freedom);

/// The number below which a share of the sorted values lies, between two of them in proportion, as
/// numpy has it; median and quantile of LibTorch differ.
double sorted_quantile(std::span<const double> sorted, double share);

/// Mean and deviation of a stream, without keeping it (Welford 1962).
class RunningStatistics {
 public:
  void add(double value) {
    ++count_;
    const double step = value - mean_;
    mean_ += step / double(count_);
    squares_ += step * (value - mean_);
  }
  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  /// With n - 1; 0 for fewer than two values.
  double deviation() const;

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace fovea
