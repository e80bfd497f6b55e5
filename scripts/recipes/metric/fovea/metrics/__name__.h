// __Name__: the share of predictions within `tolerance` of their target.
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

/// predicted and target [N]; 0 for no rows.
double __name__(const at::Tensor& predicted, const at::Tensor& target, double tolerance);

}  // namespace fovea
