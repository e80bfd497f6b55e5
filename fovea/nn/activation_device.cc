#include "fovea/nn/activation_device.h"

#include "fovea/core/device_draws.h"
#include "fovea/core/device_stream.h"
#include "fovea/core/device_tensor.h"
#include "fovea/core/error.h"
#include "fovea/core/product.h"
#include "fovea/core/torch.h"
#include "fovea/kernels/activation/activation.h"
#include "fovea/nn/kept_dropout.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// A call of the two kernels. `like`: a tensor of the shape and type of the result.
kernels::device::ActivationShape call_over(const Tensor& like, const Tensor& bias, Activation kind,
                                           const kernels::device::DeviceDropout& dropout) {
  const int64_t columns = like.size(-1);
  return {kind,
          number_type_of(like),
          like.numel() / columns,
          columns,
          bias.defined() ? bias.data_ptr<float>() : nullptr,
          dropout};
}

struct DeviceActivationGradients {
  Tensor x, bias;

  /// `kept`: the result for relu, else what the bias was added to.
  DeviceActivationGradients(const Tensor& kept, const Tensor& of_bias, const Tensor& arrived,
                            Activation kind, const kernels::device::DeviceDropout& dropout)
      : x(at::empty_like(kept)) {
    require(!at::GradMode::is_enabled(), ErrorKind::Unsupported,
            "a GPU's activations cannot be differentiated twice; hold a ReadableOnly while the "
            "network runs");
    const auto call = call_over(kept, of_bias, kind, dropout);
    const Tensor dy = in_whole_packs(arrived.to(kept.scalar_type()));
    Tensor parts;
    if (of_bias.defined()) {
      bias = at::empty_like(of_bias);
      parts = at::empty({kernels::device::column_slices(call.rows, call.columns), call.columns},
                        of_bias.options());
    }
    kernels::device::activation_backward(call,
                                         {kept.data_ptr(), dy.data_ptr(), x.data_ptr(),
                                          parts.defined() ? parts.data_ptr<float>() : nullptr,
                                          bias.defined() ? bias.data_ptr<float>() : nullptr},
                                         current_device_stream());
  }
};

class DeviceActivate : public torch::autograd::Function<DeviceActivate> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& bias,
                        int64_t number) {
    const AutocastOff keeps_types;
    const auto kind = static_cast<Activation>(number);
    const Tensor y = at::empty_like(x);
    kernels::device::activation_forward(call_over(x, bias, kind, {}), x.data_ptr(), y.data_ptr(),
                                        current_device_stream());
    context->save_for_backward({kind == Activation::Relu ? y : x, bias});
    context->saved_data["kind"] = number;
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const AutocastOff keeps_types;
    const tensor_list saved = context->get_saved_variables();
    const auto kind = static_cast<Activation>(context->saved_data["kind"].toInt());
    const DeviceActivationGradients got(saved[0], saved[1], arrived[0], kind, {});
    return {got.x, got.bias, {}};
  }
};

class DeviceProjection : public torch::autograd::Function<DeviceProjection> {
 public:
  /// The factors have the type of the weight.
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const c10::optional<Tensor>& given_bias, int64_t number, double rate,
                        int64_t key) {
    const AutocastOff keeps_types;
    const auto kind = static_cast<Activation>(number);
    const Tensor bias = given_bias.value_or(Tensor());
    const Tensor left = x.to(weight.scalar_type()), u = at::mm(left, weight.t());  // [N, out]
    const Tensor y = kind == Activation::Relu ? u : at::empty_like(u);
    const auto dropout = device_dropout(x.device(), rate, static_cast<uint64_t>(key));
    kernels::device::activation_forward(call_over(u, bias, kind, dropout), u.data_ptr(),
                                        y.data_ptr(), current_device_stream());
    context->save_for_backward({left, weight, bias, u});  // relu: the product has become y
    context->saved_data["kind"] = number;
    context->saved_data["type"] = static_cast<int64_t>(x.scalar_type());
    context->saved_data["wants_x"] = x.requires_grad();
    keep_dropout(context, dropout);
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const AutocastOff keeps_types;
    const tensor_list saved = context->get_saved_variables();
    const auto kind = static_cast<Activation>(context->saved_data["kind"].toInt());
    const DeviceActivationGradients got(saved[3], saved[2], arrived[0], kind,
                                        kept_dropout(context));
    Tensor dx;  // [N, in]
    if (context->saved_data["wants_x"].toBool())
      dx = got.x.mm(saved[1]).to(static_cast<at::ScalarType>(context->saved_data["type"].toInt()));
    return {dx, got.x.t().mm(saved[0]), got.bias, {}, {}, {}};
  }
};

bool is_float(const Tensor& x) {
  return !x.defined() || x.scalar_type() == at::kFloat;
}

}  // namespace

bool device_activation_takes(const Tensor& x, const Tensor& bias) {
  return device_kernels_take({x, bias}) && is_float(bias) && x.numel() > 0 &&
         kernels::device::activation_takes(number_type_of(x), x.numel() / x.size(-1), x.size(-1));
}

Tensor device_activate(const Tensor& x, const Tensor& bias, Activation kind) {
  return DeviceActivate::apply(in_whole_packs(x), in_whole_packs(bias), static_cast<int64_t>(kind));
}

bool device_projection_takes(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool rounds = current_precision() == Precision::BFloat16;
  const auto type =
      rounds ? kernels::device::NumberType::BFloat16 : kernels::device::NumberType::Float32;
  return device_kernels_take({x, weight, bias}) && (rounds || is_float(x)) && is_float(weight) &&
         is_float(bias) && x.numel() > 0 &&
         kernels::device::activation_takes(type, x.numel() / x.size(-1), weight.size(0));
}

Tensor device_projection(const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const DeviceActivationSettings& how) {
  const bool rounds = current_precision() == Precision::BFloat16;
  return DeviceProjection::apply(
      x, rounds ? rounded_on_device(weight) : weight,
      bias.defined() ? c10::optional<Tensor>(in_whole_packs(bias)) : c10::nullopt,
      static_cast<int64_t>(how.kind), how.rate, static_cast<int64_t>(how.key));
}

}  // namespace fovea
