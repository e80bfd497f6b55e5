#include "fovea/metrics/regression.h"

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

}  // namespace fovea
