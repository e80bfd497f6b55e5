// How far predicted numbers are from the targets. Both tensors have the same number of elements,
// any shape, any dtype; sums are in double precision.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace fovea {

/// mean (p - t)^2.
double mean_squared_error(const at::Tensor& predicted, const at::Tensor& targets);

/// sqrt of the mean squared error, in the target's own unit.
double root_mean_squared_error(const at::Tensor& predicted, const at::Tensor& targets);

/// mean |p - t|.
double mean_absolute_error(const at::Tensor& predicted, const at::Tensor& targets);

/// 1 - sum (p - t)^2 / sum (t - mean t)^2: 1 is perfect, 0 is as good as the mean. Not defined when
/// all targets are equal.
std::optional<double> r_squared(const at::Tensor& predicted, const at::Tensor& targets);

/// Pearson's correlation: 1 where the numbers lie on a rising line. Not defined for fewer than two
/// rows, for equal numbers or with a NaN.
std::optional<double> pearson(const at::Tensor& predicted, const at::Tensor& targets);

/// Spearman's: Pearson's of the ranks, equal numbers sharing the mean of theirs. 1 where both put
/// the rows into the same order.
std::optional<double> spearman(const at::Tensor& predicted, const at::Tensor& targets);

/// The median of |p - t|, which a few bad rows do not move.
double median_absolute_error(const at::Tensor& predicted, const at::Tensor& targets);

/// How p - t is distributed.
struct Residuals {
  double mean = 0;  // the bias: above 0 predictions are too high
  double deviation = 0;
  std::vector<double> quantiles;    // of kResidualQuantiles, linear between rows
  std::vector<int64_t> worst_rows;  // largest |p - t| first
};
inline constexpr double kResidualQuantiles[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
Residuals summarize_residuals(const at::Tensor& predicted, const at::Tensor& targets,
                              int64_t worst = 5);

}  // namespace fovea
