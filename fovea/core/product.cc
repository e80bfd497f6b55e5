#include "fovea/core/product.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/core/torch.h"
#include "fovea/kernels/instruction_set.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

thread_local Precision current = Precision::Float32;

bool is_rounded(const Tensor& x) {
  return x.scalar_type() == at::kBFloat16;
}

/// Names and arguments of autocast's switches changed with LibTorch 2.4.
void switch_autocast(bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, on);
#else
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(on);
#endif
}

/// y = x W^T + b with rounded factors; the rounded ones are kept for
///   dx = dy W,   dW = dy^T x,   db = sum of dy
class RoundedLinear : public torch::autograd::Function<RoundedLinear> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const c10::optional<Tensor>& bias) {
    const Tensor left = factor_of(x), right = factor_of(weight);
    context->save_for_backward({left, right});
    context->saved_data["has_bias"] = bias.has_value();
    Tensor y = product(left, right.t());  // [N, out]
    if (bias) y.add_(*bias);
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require(!at::GradMode::is_enabled(), ErrorKind::Unsupported,
            "gradients of gradients need float32; leave --precision bf16 out");
    const tensor_list saved = context->get_saved_variables();
    const Tensor &dy = arrived[0], rounded = dy.to(at::kBFloat16);
    const bool has_bias = context->saved_data["has_bias"].toBool();
    return {product(rounded, saved[1]), product(rounded.t(), saved[0]),
            has_bias ? dy.sum(0) : Tensor()};
  }
};

}  // namespace

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> names{"float32", "tf32", "bf16"};
  return names;
}

Precision precision_named(const std::string& name) {
  const auto& names = precision_names();
  const auto found = std::find(names.begin(), names.end(), name);
  require(found != names.end(), ErrorKind::InvalidArgument, "there is no precision '", name,
          "'; known: ", join(names));
  return static_cast<Precision>(found - names.begin());
}

void require_precision(Precision precision, const at::Device& device) {
  require(precision != Precision::TensorFloat32 || !device.is_cpu(), ErrorKind::Unsupported,
          "--precision tf32 is something that GPUs do; use --device cuda, or leave it out");
  require(precision != Precision::BFloat16 || !device.is_cpu() || kernels::multiplies_bf16(),
          ErrorKind::Unsupported,
          "--precision bf16: this processor does not multiply bfloat16 (AVX-512 BF16), and would "
          "only be slower; use --precision float32, or a GPU");
}

Precision current_precision() {
  return current;
}

PrecisionScope::PrecisionScope(Precision precision, const at::Device& device) : before_(current) {
  current = precision;
  rounded_before_ = at::globalContext().allowTF32CuBLAS();
  if (!device.is_cuda()) return;
  casts_ = precision == Precision::BFloat16;
  if (casts_) switch_autocast(true);
  at::globalContext().setAllowTF32CuBLAS(precision != Precision::Float32);
}

PrecisionScope::~PrecisionScope() {
  current = before_;
  if (at::globalContext().allowTF32CuBLAS() != rounded_before_)
    at::globalContext().setAllowTF32CuBLAS(rounded_before_);
  if (!casts_) return;
  switch_autocast(false);
  at::autocast::clear_cache();  // rounded weights are those of this step
}

Tensor factor_of(const Tensor& x) {
  const bool rounds = current == Precision::BFloat16 && x.is_cpu() && x.scalar_type() == at::kFloat;
  return rounds ? x.detach().to(at::kBFloat16) : x;
}

Tensor product(const Tensor& a, const Tensor& b) {
  if (!is_rounded(a) && !is_rounded(b)) return at::mm(a, b);
  return at::mm(a.to(at::kBFloat16), b.to(at::kBFloat16)).to(at::kFloat);
}

void product_into(Tensor& result, const Tensor& a, const Tensor& b) {
  if (is_rounded(a) || is_rounded(b))
    result.copy_(at::mm(a.to(at::kBFloat16), b.to(at::kBFloat16)));
  else
    at::mm_out(result, a, b);
}

void add_product(Tensor& sum, const Tensor& a, const Tensor& b) {
  if (is_rounded(a) || is_rounded(b))
    sum.add_(product(a, b));
  else
    sum.addmm_(a, b);
}

Tensor linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool rounds = current == Precision::BFloat16 && x.is_cpu() &&
                      x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat;
  if (!rounds) return torch::linear(x, weight, bias);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return RoundedLinear::apply(x.reshape({-1, weight.size(1)}), weight,
                              bias.defined() ? c10::optional<Tensor>(bias) : c10::nullopt)
      .view(shape);
}

}  // namespace fovea
