#include "fovea/metrics/regression.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
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

/// Linear between the two nearest rows, as numpy has it. Median and quantile of LibTorch differ.
double sorted_quantile(const at::Tensor& sorted, double share) {
  const double place = share * double(sorted.numel() - 1);
  const auto below = static_cast<int64_t>(place);
  const int64_t above = std::min(below + 1, sorted.numel() - 1);
  const double* values = sorted.data_ptr<double>();
  return values[below] + (place - double(below)) * (values[above] - values[below]);
}

at::Tensor sorted_values(const at::Tensor& values) {
  return std::get<0>(values.sort()).contiguous();
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
  const at::Tensor sorted = sorted_values(residuals);
  for (const double share : kResidualQuantiles)
    summary.quantiles.push_back(sorted_quantile(sorted, share));
  const at::Tensor order =
      std::get<1>(residuals.abs().sort(/*stable=*/true, 0, /*descending=*/true)).contiguous();
  const int64_t* rows = order.data_ptr<int64_t>();
  summary.worst_rows.assign(rows, rows + std::min(worst, order.numel()));
  return summary;
}

}  // namespace fovea
