// Products of dense layers in the precision that a thread asks for. bf16: both factors are rounded
// to bfloat16 (8 bits of mantissa) and their products added up in float32, by processors that do so
// natively at twice the speed of float32 (AVX-512 BF16). Weights, results and everything else stay
// float32. On a GPU LibTorch's autocast does the same, to all that it holds safe, and tf32 rounds
// the factors of float32 products to 11 bits of mantissa on the way into its multipliers.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <string>
#include <vector>

namespace fovea {

enum class Precision { Float32, TensorFloat32, BFloat16 };

const std::vector<std::string>& precision_names();  // float32, tf32, bf16
Precision precision_named(const std::string& name);

/// Unsupported, with what to do instead, where this machine cannot do it on that device.
void require_precision(Precision precision, const at::Device& device);

/// Of the scope that this thread is in; float32 outside of all.
Precision current_precision();

/// What this thread computes on that device, while one lives.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, const at::Device& device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  Precision before_;
  bool casts_ = false;           // autocast was switched on
  bool rounded_before_ = false;  // tf32 products
};

/// LibTorch's autocast leaves this thread alone while one lives, for operations that keep the types
/// that they are given.
class AutocastOff {
 public:
  AutocastOff() : guard_(c10::DispatchKey::AutocastCUDA) {}

 private:
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

/// A float32 matrix of a CPU as a factor of products: rounded in a bf16 scope, else itself.
at::Tensor factor_of(const at::Tensor& x);

/// a [m, k] b [k, n] in float32, where a and b may be factors; one that is rounded decides.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);
void product_into(at::Tensor& result, const at::Tensor& a, const at::Tensor& b);
void add_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);

/// A float32 parameter on a GPU, rounded to bfloat16; in a bf16 scope autocast keeps the result, so
/// that it is done once. Differentiable.
at::Tensor rounded_on_device(const at::Tensor& parameter);

/// x [..., in] weight^T + bias -> [..., out]; the bias may be undefined. bfloat16 on a GPU in a
/// bf16 scope.
at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace fovea
