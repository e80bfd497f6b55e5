#include "fovea/metrics/regression.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/metrics/statistics.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

at::Tensor flat_double(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, at::kDouble).flatten();  // [N]
}

at::Tensor difference(const at::Tensor& predicted, const at::Tensor& targets) {
  require(predicted.defined() && targets.defined() && predicted.numel() == targets.numel(),
          ErrorKind::InvalidArgument, "there are ", predicted.defined() ? predicted.numel() : 0,
          " predicted numbers but ", targets.defined() ? targets.numel() : 0, " targets");
  require(predicted.numel() > 0, ErrorKind::InvalidArgument,
          "a metric needs at least one row, found none");
  return flat_double(predicted) - flat_double(targets);  // [N]
}

}  // namespace

double mean_squared_error(const at::Tensor& predicted, const at::Tensor& targets) {
  return difference(predicted, targets).square().mean().item<double>();
}

double root_mean_squared_error(const at::Tensor& predicted, const at::Tensor& targets) {
  return std::sqrt(mean_squared_error(predicted, targets));
}

double mean_absolute_error(const at::Tensor& predicted, const at::Tensor& targets) {
  return difference(predicted, targets).abs().mean().item<double>();
}

std::optional<double> r_squared(const at::Tensor& predicted, const at::Tensor& targets) {
  const double residual = difference(predicted, targets).square().sum().item<double>();
  const at::Tensor truth = flat_double(targets);
  const double total = (truth - truth.mean()).square().sum().item<double>();
  // Rounding of the mean leaves a trace even when all targets are equal, so equality itself is
  // asked.
  if (total == 0 || truth.eq(truth[0]).all().item<bool>()) return {};
  return 1 - residual / total;
}

namespace {

/// Of each number, from 1; equal ones share the mean of theirs.
at::Tensor mean_ranks(const at::Tensor& numbers) {
  const at::Tensor values = numbers.contiguous(), order = values.argsort();
  const at::Tensor ranks = torch::empty_like(values);
  const double* value = values.data_ptr<double>();
  const int64_t *at = order.data_ptr<int64_t>(), count = values.numel();
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && value[at[end]] == value[at[begin]]) ++end;
    for (int64_t i = begin; i < end; ++i)
      ranks.data_ptr<double>()[at[i]] = double(begin + end + 1) / 2;
  }
  return ranks;
}

std::optional<double> correlation(const at::Tensor& one, const at::Tensor& other) {
  const auto is_constant = [](const at::Tensor& all) { return all.eq(all[0]).all().item<bool>(); };
  if (one.numel() < 2 || is_constant(one) || is_constant(other)) return {};
  const at::Tensor a = one - one.mean(), b = other - other.mean();
  const double scale = std::sqrt(a.dot(a).item<double>()) * std::sqrt(b.dot(b).item<double>());
  if (!std::isfinite(scale) || scale == 0) return {};
  return std::clamp(a.dot(b).item<double>() / scale, -1.0, 1.0);
}

}  // namespace

std::optional<double> pearson(const at::Tensor& predicted, const at::Tensor& targets) {
  difference(predicted, targets);  // as many of both
  return correlation(flat_double(predicted), flat_double(targets));
}

std::optional<double> spearman(const at::Tensor& predicted, const at::Tensor& targets) {
  if (difference(predicted, targets).isnan().any().item<bool>()) return {};
  return correlation(mean_ranks(flat_double(predicted)), mean_ranks(flat_double(targets)));
}

namespace {

std::vector<double> sorted_values(const at::Tensor& values) {
  const at::Tensor sorted = std::get<0>(values.sort()).contiguous();
  return {sorted.data_ptr<double>(), sorted.data_ptr<double>() + sorted.numel()};
}

}  // namespace

double median_absolute_error(const at::Tensor& predicted, const at::Tensor& targets) {
  return sorted_quantile(sorted_values(difference(predicted, targets).abs()), 0.5);
}

Residuals summarize_residuals(const at::Tensor& predicted, const at::Tensor& targets,
                              int64_t worst) {
  const at::Tensor residuals = difference(predicted, targets);  // [N]
  Residuals summary;
  summary.mean = residuals.mean().item<double>();
  summary.deviation = residuals.numel() > 1 ? residuals.std().item<double>() : 0;
  const std::vector<double> sorted = sorted_values(residuals);
  for (const double share : kResidualQuantiles)
    summary.quantiles.push_back(sorted_quantile(sorted, share));
  const at::Tensor order =
      std::get<1>(residuals.abs().sort(/*stable=*/true, 0, /*descending=*/true)).contiguous();
  const int64_t* rows = order.data_ptr<int64_t>();
  summary.worst_rows.assign(rows, rows + std::min(worst, order.numel()));
  return summary;
}

}  // namespace fovea
