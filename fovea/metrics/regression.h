// How far predicted numbers are from the targets. Both tensors have the same number of elements,
// any shape, any dtype; sums are in double precision.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

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

}  // namespace fovea
