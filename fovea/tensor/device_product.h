// What products on a GPU need besides LibTorch: factors whose rows are whole packs, since the fast
// multipliers read nothing else, and the sums of columns that are the gradients of biases.
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

/// How wide a factor of `width` columns in bfloat16 is: the next multiple of 8.
int64_t device_factor_width(int64_t width);

/// x [N, K] as a factor of products over K. In bfloat16 it has zeros behind its columns, up to that
/// width: the other factor must have them too.
at::Tensor device_factor(const at::Tensor& x, at::ScalarType type);

/// x [N, K], float32 or bfloat16 on a GPU and contiguous -> [K] in float32
at::Tensor column_sums(const at::Tensor& x);

}  // namespace fovea
