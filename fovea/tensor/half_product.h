// Dense layers whose weights stay in bfloat16 or float16, as a file has them: half the memory of
// float32. Each weight is widened when it is used, and all sums are float32, so that nothing is
// rounded but the weights. On a GPU the inputs are rounded as well.
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

/// Whether half_linear() is for these.
bool is_half_linear(const at::Tensor& x, const at::Tensor& weight);

/// x float32 [..., in], weight [out, in] -> [..., out]; bias float32 [out] or undefined. The weight
/// gets no gradient, x does.
at::Tensor half_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace fovea
