// How far forecasts are from what came, by step ahead and by series, in the series' own units and
// standardised as papers report it; and two forecasts that every network has to beat.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "fovea/metrics/metric.h"

namespace fovea {

/// Sums over windows, in double precision; batches may be added in any number of parts.
class ForecastErrors {
 public:
  /// predicted and target [B, T, O], standardised; deviation [B, O], what one of them is in the
  /// unit of the series. low and high [B, T, O] are the interval that the target should lie in, or
  /// undefined.
  void add(const at::Tensor& predicted, const at::Tensor& target, const at::Tensor& deviation,
           const at::Tensor& low = {}, const at::Tensor& high = {});
  void add(const ForecastErrors& other);
  bool empty() const { return !sums_.defined(); }
  double windows() const { return windows_; }

  /// mae and rmse in the series' own units, mse_standardised and mae_standardised, r2 where it is
  /// defined, and of intervals coverage (the share of numbers inside) and width in the unit.
  Metrics metrics() const;
  /// mae [T, O] and the mean squared error [T, O], in the units of the series.
  at::Tensor mean_absolute() const;
  at::Tensor mean_squared() const;
  at::Tensor mean_absolute_standardised() const;
  at::Tensor mean_squared_standardised() const;

 private:
  at::Tensor mean(int64_t sum) const;
  at::Tensor sums_;  // [Sum, T, O]
  double windows_ = 0;
  bool intervals_ = false;
};

/// The last season once more: y_(t+h) = x_(t+h-m) with m the first multiple of `season` that is
/// known. source [B, S, F]; `targets` say which input each target is, -1: none, whose forecast is
/// 0, the mean. -> [B, T, O]
at::Tensor seasonal_naive(const at::Tensor& source, const std::vector<int64_t>& targets,
                          int64_t season, int64_t horizon);

/// Ridge regression from the window of each series, less its mean, to its horizon: one map for all
/// series, by the normal equations. Rows are added batch by batch; targets that are no inputs are
/// left out.
class LinearForecast {
 public:
  LinearForecast(int64_t window, int64_t horizon);
  /// source [B, S, F], target [B, T, O]
  void add(const at::Tensor& source, const at::Tensor& target, const std::vector<int64_t>& targets);
  at::Tensor solve() const;  // [S, T]; undefined where nothing was added

  /// -> [B, T, O]; `map` as solve() gives it.
  static at::Tensor forecast(const at::Tensor& map, const at::Tensor& source,
                             const std::vector<int64_t>& targets);

 private:
  at::Tensor gram_, moments_;  // [S, S], [S, T]
  int64_t rows_ = 0;
};

}  // namespace fovea
