// x W^T + b for a weight that is used many times before it changes, as in a search: packed once
// (kernels/packed_product), so that steps of few rows do not pay for packing again. What kernels do
// not take (tensor/kernel_path.h) goes through torch::linear.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "fovea/kernels/packed_product/packed_product.h"

namespace fovea {

using kernels::Finish;

/// The likeliest symbols of each row, best first; of equals the smaller symbol.
struct BestSymbols {
  at::Tensor log_probabilities;  // [R, n]
  at::Tensor symbols;            // int64 [R, n]
};

class PackedProjection {
 public:
  PackedProjection() = default;
  /// weight [out, in], bias [out] or undefined. Later changes of either are not seen. Made in a
  /// scope of bf16 (tensor/product.h), it multiplies rounded numbers on CPUs that do so natively.
  PackedProjection(const at::Tensor& weight, const at::Tensor& bias);

  /// act(x W^T + b): x [..., in] -> [..., out]
  at::Tensor forward(const at::Tensor& x, Finish finish = Finish::None) const;

  /// Whether kernels take x.
  bool is_fused(const at::Tensor& x) const;

  /// Of log_softmax(x W^T + b) without `forbidden`: the best `count`, or all where there are fewer.
  /// x [R, in], which is_fused().
  BestSymbols best(const at::Tensor& x, int64_t count, const std::vector<int64_t>& forbidden) const;

 private:
  at::Tensor weight_, bias_;
  at::Tensor packed_;  // undefined: not for kernels
  kernels::PackedShape shape_;
};

}  // namespace fovea
