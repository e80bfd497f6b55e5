#include "fovea/tensor/product.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>

#include "fovea/base/error.h"
#include "fovea/kernels/instruction_set.h"
#include "fovea/tensor/device_product.h"
#include "fovea/tensor/device_tensor.h"
#include "fovea/tensor/half_product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

thread_local Precision current = Precision::Float32;

#if TORCH_VERSION_MAJOR < 2
/// oneDNN 2.7, behind Debian's LibTorch, ends the program where it multiplies bfloat16 in tiles
/// (AMX): it uses one that it has not configured. It looks at this variable once, when it is first
/// needed, so it is set before the program begins.
[[maybe_unused]] const int no_tiles = ::setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
#endif

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

void require_one_derivative_of_product() {
  require(!at::GradMode::is_enabled(), ErrorKind::Unsupported,
          "gradients of gradients need float32; leave --precision bf16 out");
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
    context->saved_data["wants_weight"] = weight.requires_grad();
    Tensor y = product(left, right.t());  // [N, out]
    if (bias) y.add_(*bias);
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require_one_derivative_of_product();
    const tensor_list saved = context->get_saved_variables();
    const Tensor &dy = arrived[0], rounded = dy.to(at::kBFloat16);
    const bool has_bias = context->saved_data["has_bias"].toBool();
    const bool wants_weight = context->saved_data["wants_weight"].toBool();
    return {product(rounded, saved[1]), wants_weight ? product(rounded.t(), saved[0]) : Tensor(),
            has_bias ? dy.sum(0) : Tensor()};
  }
};

/// The same on a GPU, where y is rounded, too. The weight comes rounded and as wide as a factor;
/// the bias twice, once for its gradient and once rounded.
class DeviceLinear : public torch::autograd::Function<DeviceLinear> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const c10::optional<Tensor>& bias,
                        const c10::optional<Tensor>& rounded_bias) {
    const AutocastOff keeps_types;
    const Tensor left = device_factor(x, at::kBFloat16);
    context->save_for_backward({left, weight});
    context->saved_data["width"] = x.size(1);
    context->saved_data["has_bias"] = bias.has_value();
    context->saved_data["type"] = static_cast<int64_t>(x.scalar_type());
    context->saved_data["wants_x"] = x.requires_grad();
    return rounded_bias ? at::addmm(*rounded_bias, left, weight.t())
                        : at::mm(left, weight.t());  // [N, out]
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require_one_derivative_of_product();
    const AutocastOff keeps_types;
    const tensor_list saved = context->get_saved_variables();
    const Tensor dy = arrived[0].to(at::kBFloat16).contiguous();
    Tensor dx, dbias;
    if (context->saved_data["wants_x"].toBool())
      dx = dy.mm(saved[1])
               .narrow(1, 0, context->saved_data["width"].toInt())
               .to(static_cast<at::ScalarType>(context->saved_data["type"].toInt()));
    if (context->saved_data["has_bias"].toBool()) dbias = column_sums(dy);
    return {dx, dy.t().mm(saved[0]), dbias, {}};
  }
};

/// Whether DeviceLinear is for these, when a bf16 scope asks for it.
bool device_linear_takes(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return device_kernels_take({x, weight, bias}) && weight.scalar_type() == at::kFloat &&
         (!bias.defined() || bias.scalar_type() == at::kFloat) && x.numel() > 0 &&
         weight.numel() > 0;
}

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

Tensor rounded_on_device(const Tensor& parameter) {
  return at::autocast::cached_cast(at::kBFloat16, parameter, at::kCUDA);
}

Tensor linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (is_half_linear(x, weight)) return half_linear(x, weight, bias);
  const bool rounds = current == Precision::BFloat16;
  const bool on_device = rounds && device_linear_takes(x, weight, bias);
  const bool on_cpu =
      rounds && x.is_cpu() && x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat;
  if (!on_device && !on_cpu) return torch::linear(x, weight, bias);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const Tensor rows = x.reshape({-1, weight.size(1)});  // [N, in]
  const auto given = bias.defined() ? c10::optional<Tensor>(bias) : c10::nullopt;
  if (on_cpu) return RoundedLinear::apply(rows, weight, given).view(shape);
  const auto rounded =
      given ? c10::optional<Tensor>(rounded_on_device(bias).detach()) : c10::nullopt;
  Tensor factor = rounded_on_device(weight);  // [out, in], and zeros up to the width of factors
  if (const int64_t missing = device_factor_width(weight.size(1)) - weight.size(1); missing > 0)
    factor = at::constant_pad_nd(factor, {0, missing});
  return DeviceLinear::apply(rows, factor, given, rounded).view(shape);
}

}  // namespace fovea
