#include "fovea/metrics/forecast.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

enum Sum {
  kAbsolute,
  kSquared,
  kAbsoluteUnit,
  kSquaredUnit,
  kTarget,
  kTargetSquared,
  kInside,
  kWidth,
  kSums
};

constexpr double kRidge = 1e-3;  // of the mean of the diagonal: windows of one series look alike

/// The inputs that are targets. source [B, S, F] -> [B, S, O']
Tensor own_past(const Tensor& source, const std::vector<int64_t>& targets) {
  std::vector<int64_t> inputs;
  for (const int64_t input : targets)
    if (input >= 0) inputs.push_back(input);
  if (inputs.empty()) return {};
  return source.index_select(2, torch::tensor(inputs));
}

/// [B, N, O] -> [B O, N], less `mean` [B O, 1]
Tensor by_series(const Tensor& values) {
  return values.transpose(1, 2).reshape({-1, values.size(1)});
}

}  // namespace

void ForecastErrors::add(const Tensor& predicted, const Tensor& target, const Tensor& deviation,
                         const Tensor& low, const Tensor& high) {
  require(predicted.sizes() == target.sizes() && predicted.dim() == 3, ErrorKind::InvalidArgument,
          "forecasts ", predicted.sizes(), " for targets ", target.sizes());
  const Tensor truth = target.detach().to(at::kCPU, at::kDouble);             // [B, T, O]
  const Tensor error = predicted.detach().to(at::kCPU, at::kDouble) - truth;  // [B, T, O]
  const Tensor unit = deviation.to(at::kCPU, at::kDouble).unsqueeze(1);       // [B, 1, O]
  std::vector<Tensor> sums(kSums);
  sums[kAbsolute] = error.abs().sum(0);  // [T, O]
  sums[kSquared] = error.square().sum(0);
  sums[kAbsoluteUnit] = (error.abs() * unit).sum(0);
  sums[kSquaredUnit] = (error * unit).square().sum(0);
  sums[kTarget] = truth.sum(0);
  sums[kTargetSquared] = truth.square().sum(0);
  sums[kInside] = sums[kWidth] = torch::zeros_like(sums[kTarget]);
  if (low.defined()) {
    const Tensor least = low.to(at::kCPU, at::kDouble), most = high.to(at::kCPU, at::kDouble);
    sums[kInside] = ((truth >= least) & (truth <= most)).to(at::kDouble).sum(0);
    sums[kWidth] = ((most - least) * unit).sum(0);
    intervals_ = true;
  }
  const Tensor own = torch::stack(sums);  // [Sum, T, O]
  sums_ = sums_.defined() ? sums_ + own : own;
  windows_ += double(target.size(0));
}

void ForecastErrors::add(const ForecastErrors& other) {
  if (other.empty()) return;
  sums_ = sums_.defined() ? sums_ + other.sums_ : other.sums_;
  windows_ += other.windows_;
  intervals_ = intervals_ || other.intervals_;
}

Tensor ForecastErrors::mean(int64_t sum) const {
  require(!empty(), ErrorKind::InvalidArgument, "a metric needs at least one row, found none");
  return sums_[sum] / windows_;  // [T, O]
}

Tensor ForecastErrors::mean_absolute() const {
  return mean(kAbsoluteUnit);
}
Tensor ForecastErrors::mean_squared() const {
  return mean(kSquaredUnit);
}
Tensor ForecastErrors::mean_absolute_standardised() const {
  return mean(kAbsolute);
}
Tensor ForecastErrors::mean_squared_standardised() const {
  return mean(kSquared);
}

Metrics ForecastErrors::metrics() const {
  const auto of = [&](int64_t sum) { return mean(sum).mean().item<double>(); };
  Metrics metrics{{"mae", of(kAbsoluteUnit)},
                  {"rmse", std::sqrt(of(kSquaredUnit))},
                  {"mse_standardised", of(kSquared)},
                  {"mae_standardised", of(kAbsolute)}};
  const double variance = of(kTargetSquared) - of(kTarget) * of(kTarget);
  if (variance > 1e-12 * of(kTargetSquared))
    metrics.push_back({"r2", 1 - of(kSquared) / variance, true});
  if (intervals_) {
    metrics.push_back({"coverage", of(kInside), true});
    metrics.push_back({"width", of(kWidth)});
  }
  return metrics;
}

Tensor seasonal_naive(const Tensor& source, const std::vector<int64_t>& targets, int64_t season,
                      int64_t horizon) {
  const int64_t window = source.size(1);
  if (season < 1 || season > window) season = 1;
  std::vector<int64_t> steps;
  for (int64_t step = 0; step < horizon; ++step) steps.push_back(window - season + step % season);
  const Tensor repeated = source.index_select(1, torch::tensor(steps));  // [B, T, F]
  std::vector<Tensor> columns;
  for (const int64_t input : targets)
    columns.push_back(input >= 0 ? repeated.select(2, input)
                                 : torch::zeros_like(repeated.select(2, 0)));
  return torch::stack(columns, 2);  // [B, T, O]
}

LinearForecast::LinearForecast(int64_t window, int64_t horizon)
    : gram_(torch::zeros({window, window}, at::kDouble)),
      moments_(torch::zeros({window, horizon}, at::kDouble)) {}

void LinearForecast::add(const Tensor& source, const Tensor& target,
                         const std::vector<int64_t>& targets) {
  const Tensor past = own_past(source, targets);  // [B, S, O']
  if (!past.defined()) return;
  std::vector<int64_t> known;
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i] >= 0) known.push_back(int64_t(i));
  Tensor x = by_series(past), y = by_series(target.index_select(2, torch::tensor(known)));
  const Tensor mean = x.mean(1, true);  // [B O', 1]
  x = x - mean, y = y - mean;
  gram_ += at::matmul(x.t(), x).to(at::kDouble);     // [S, S]
  moments_ += at::matmul(x.t(), y).to(at::kDouble);  // [S, T]
  rows_ += x.size(0);
}

Tensor LinearForecast::solve() const {
  if (rows_ == 0) return {};
  const double ridge = kRidge * gram_.diagonal().mean().item<double>() + 1e-9;
  const Tensor matrix = gram_ + ridge * torch::eye(gram_.size(0), gram_.options());
  return torch::linalg_solve(matrix, moments_).to(at::kFloat);  // [S, T]
}

Tensor LinearForecast::forecast(const Tensor& map, const Tensor& source,
                                const std::vector<int64_t>& targets) {
  std::vector<Tensor> columns;
  for (const int64_t input : targets) {
    if (input < 0) {
      columns.push_back(torch::zeros({source.size(0), map.size(1)}));
      continue;
    }
    const Tensor past = source.select(2, input), mean = past.mean(1, true);  // [B, S], [B, 1]
    columns.push_back(at::matmul(past - mean, map) + mean);                  // [B, T]
  }
  return torch::stack(columns, 2);  // [B, T, O]
}

}  // namespace fovea
