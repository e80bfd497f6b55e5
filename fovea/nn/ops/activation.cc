#include "fovea/nn/ops/activation.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/kernels/column_sums/column_sums.h"
#include "fovea/tensor/device_draws.h"
#include "fovea/tensor/device_stream.h"
#include "fovea/tensor/device_tensor.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

namespace device = kernels::device;

/// What a call does besides its tensors, as the graph remembers it.
struct ActivationCall : torch::CustomClassHolder {
  ActivationCall(Activation activation, double dropout_rate, uint64_t dropout_key)
      : kind(activation), rate(dropout_rate), key(dropout_key) {}

  Activation kind;
  double rate;
  uint64_t key;
  device::DeviceDropout drawn{};  // on a GPU, from the forward pass on

  bool relu() const { return kind == Activation::Relu; }
  static const ActivationCall& saved_in(AutogradContext* context) {
    return static_cast<const ActivationCall&>(*context->saved_data["call"].toCapsule());
  }
};
using ActivationCallPtr = c10::intrusive_ptr<ActivationCall>;

// ---- Reference ----

Tensor activated_reference(const Tensor& u, Activation kind) {
  return kind == Activation::Relu ? u.relu() : kind == Activation::Tanh ? u.tanh() : at::gelu(u);
}

/// act'(u); relu may be given its result instead of u.
Tensor slope_reference(const Tensor& u, Activation kind) {
  if (kind == Activation::Relu) return u.gt(0).to(u.scalar_type());
  if (kind == Activation::Tanh) return 1 - u.tanh().square();
  const Tensor below = 0.5 * (1 + (u * M_SQRT1_2).erf());
  return below + u * (u.square() * -0.5).exp() * (M_2_SQRTPI * M_SQRT1_2 / 2);
}

/// du for those who differentiate it again. `saved`: the result for relu, else x.
Tensor du_reference(const Tensor& saved, const Tensor& bias, const Tensor& dy,
                    const ActivationCall& call) {
  const Tensor share = dropout(dy, call.rate, Random(call.key));
  return share * slope_reference(call.relu() ? saved : saved + bias, call.kind);
}

// ---- CPU ----

kernels::ActivationShape cpu_shape(const Tensor& x, const ActivationCall& call) {
  const int64_t columns = x.size(-1);
  return {call.kind, columns > 0 ? x.numel() / columns : 0, columns,
          kernels::Dropout(call.rate, call.key)};
}

void activate_on_cpu(const Tensor& y, const Tensor& x, const Tensor& bias,
                     const ActivationCall& call) {
  const kernels::ActivationShape shape = cpu_shape(x, call);
  run_parallel(shape.slices(), [&](int64_t slice) {
    kernels::activation_forward(shape, slice, x.data_ptr<float>(), bias.data_ptr<float>(),
                                y.data_ptr<float>());
  });
}

struct ActivationGradients {
  Tensor x, bias;
};

ActivationGradients cpu_gradients(const Tensor& saved, const Tensor& bias, const Tensor& dy,
                                  const ActivationCall& call) {
  ActivationGradients got{at::empty_like(saved), at::empty_like(bias)};
  const kernels::ActivationShape shape = cpu_shape(saved, call);
  const Tensor from = dy.contiguous(),
               sums = at::empty({shape.slices(), bias.numel()}, bias.options());
  const kernels::ActivationBackward at{saved.data_ptr<float>(), bias.data_ptr<float>(),
                                       from.data_ptr<float>(), got.x.data_ptr<float>(),
                                       sums.data_ptr<float>()};
  run_parallel(shape.slices(),
               [&](int64_t slice) { kernels::activation_backward(shape, slice, at); });
  kernels::activation_sums(shape, sums.data_ptr<float>(), got.bias.data_ptr<float>());
  return got;
}

// ---- GPU ----

/// `like`: a tensor of the shape and type of the result; the bias may be undefined.
device::ActivationShape device_shape(const Tensor& like, const Tensor& bias,
                                     const ActivationCall& call) {
  const int64_t columns = like.size(-1);
  return {call.kind,
          number_type_of(like),
          like.numel() / columns,
          columns,
          bias.defined() ? bias.data_ptr<float>() : nullptr,
          call.drawn};
}

ActivationGradients device_gradients(const Tensor& saved, const Tensor& bias, const Tensor& arrived,
                                     const ActivationCall& call) {
  ActivationGradients got{at::empty_like(saved), {}};
  const device::ActivationShape shape = device_shape(saved, bias, call);
  const Tensor dy = in_whole_packs(arrived.to(saved.scalar_type()));
  Tensor slices;
  if (bias.defined()) {
    got.bias = at::empty_like(bias);
    slices = at::empty({device::column_slices(shape.rows, shape.columns), shape.columns},
                       bias.options());
  }
  device::activation_backward(shape,
                              {saved.data_ptr(), dy.data_ptr(), got.x.data_ptr(),
                               slices.defined() ? slices.data_ptr<float>() : nullptr,
                               got.bias.defined() ? got.bias.data_ptr<float>() : nullptr},
                              current_device_stream());
  return got;
}

bool is_float(const Tensor& x) {
  return !x.defined() || x.scalar_type() == at::kFloat;
}

bool device_takes(const Tensor& x, const Tensor& bias) {
  return device_kernels_take({x, bias}) && is_float(bias) && x.numel() > 0 &&
         device::activation_takes(number_type_of(x), x.numel() / x.size(-1), x.size(-1));
}

bool device_takes_projection(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool rounds = current_precision() == Precision::BFloat16;
  const auto type = rounds ? device::NumberType::BFloat16 : device::NumberType::Float32;
  return device_kernels_take({x, weight, bias}) && (rounds || is_float(x)) && is_float(weight) &&
         is_float(bias) && x.numel() > 0 &&
         device::activation_takes(type, x.numel() / x.size(-1), weight.size(0));
}

// ---- Both, and the nodes of the graph ----

/// dropout(act(x + bias)) into y, which may be x.
void activate_into(const Tensor& y, const Tensor& x, const Tensor& bias, ActivationCall& call) {
  if (!x.is_cuda()) return activate_on_cpu(y, x, bias, call);
  call.drawn = device_dropout(x.device(), call.rate, call.key);
  device::activation_forward(device_shape(x, bias, call), x.data_ptr(), y.data_ptr(),
                             current_device_stream());
}

/// `saved`: the result for relu, else what the bias was added to.
ActivationGradients gradients_of(const Tensor& saved, const Tensor& bias, const Tensor& dy,
                                 const ActivationCall& call) {
  return saved.is_cuda() ? device_gradients(saved, bias, dy, call)
                         : cpu_gradients(saved, bias, dy, call);
}

/// Whether the gradients are differentiated again, which only a CPU's can be.
bool is_differentiated_again(const Tensor& saved) {
  require(!at::GradMode::is_enabled() || !saved.is_cuda(), ErrorKind::Unsupported,
          "a GPU's activations cannot be differentiated twice; hold a ReadableOnly while the "
          "network runs");
  return at::GradMode::is_enabled();
}

class ActivateFunction : public torch::autograd::Function<ActivateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& bias,
                        const ActivationCallPtr& call) {
    const AutocastOff keeps_types;
    const Tensor y = at::empty_like(x);
    activate_into(y, x, bias, *call);
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    context->save_for_backward({call->relu() ? y : x, bias});
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const AutocastOff keeps_types;
    const tensor_list saved = context->get_saved_variables();
    const ActivationCall& call = ActivationCall::saved_in(context);
    if (is_differentiated_again(saved[0])) {
      const Tensor du = du_reference(saved[0], saved[1], arrived[0], call);
      return {du, du.reshape({-1, saved[1].size(0)}).sum(0), {}};
    }
    const ActivationGradients got = gradients_of(saved[0], saved[1], arrived[0], call);
    return {got.x, got.bias, {}};
  }
};

class ProjectionFunction : public torch::autograd::Function<ProjectionFunction> {
 public:
  /// x [N, in] -> [N, out]. On a GPU the factors have the type of the weight, and there may be no
  /// bias.
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const c10::optional<Tensor>& given_bias, const ActivationCallPtr& call) {
    const AutocastOff keeps_types;
    const Tensor bias = given_bias.value_or(Tensor());
    const bool on_gpu = x.is_cuda();
    const Tensor left = on_gpu ? x.to(weight.scalar_type()) : factor_of(x),
                 right = on_gpu ? weight : factor_of(weight),
                 u = on_gpu ? at::mm(left, right.t()) : product(left, right.t());
    const Tensor y = call->relu() ? u : at::empty_like(u);
    activate_into(y, u, bias, *call);
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    context->saved_data["type"] = static_cast<int64_t>(x.scalar_type());
    context->saved_data["wants_x"] = x.requires_grad();
    context->save_for_backward({left, right, bias, u});  // relu: the product has become y
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const AutocastOff keeps_types;
    const tensor_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2], &u = saved[3];
    const ActivationCall& call = ActivationCall::saved_in(context);
    if (is_differentiated_again(u)) {
      require(x.scalar_type() != at::kBFloat16, ErrorKind::Unsupported,
              "gradients of gradients need float32; leave --precision bf16 out");
      const Tensor du =
          du_reference(call.relu() ? u : at::mm(x, weight.t()), bias, arrived[0], call);
      return {du.mm(weight), du.t().mm(x), du.sum(0), {}};
    }
    const ActivationGradients got = gradients_of(u, bias, arrived[0], call);
    const Tensor du = got.x.to(x.scalar_type());
    const auto times = [&](const Tensor& a, const Tensor& b) {
      return u.is_cuda() ? a.mm(b) : product(a, b);
    };
    Tensor dx;  // [N, in]
    if (context->saved_data["wants_x"].toBool())
      dx = times(du, weight).to(static_cast<at::ScalarType>(context->saved_data["type"].toInt()));
    return {dx, times(du.t(), x), got.bias, {}};
  }
};

}  // namespace

bool has_kernel(const std::string& name) {
  return name == "relu" || name == "gelu";
}

Activation activation_named(const std::string& name) {
  require(has_kernel(name), ErrorKind::InvalidArgument, "there is no activation '", name,
          "'; known: relu, gelu");
  return name == "relu" ? Activation::Relu : Activation::Gelu;
}

Tensor activate(const Tensor& u, const std::string& name) {
  if (name == "silu") return at::silu(u);
  if (name == "gelu-tanh") return at::gelu(u, "tanh");
  require(has_kernel(name), ErrorKind::InvalidArgument, "there is no activation '", name,
          "'; known: relu, gelu, gelu-tanh, silu");
  return activated_reference(u, activation_named(name));
}

Tensor activate(const Tensor& x, const Tensor& bias, Activation kind) {
  require(x.dim() > 0 && bias.dim() == 1 && x.size(-1) == bias.size(0), ErrorKind::InvalidArgument,
          "a bias of shape ", bias.sizes(), " does not fit numbers of shape ", x.sizes());
  const auto call = c10::make_intrusive<ActivationCall>(kind, 0, 0);
  if (device_takes(x, bias))
    return ActivateFunction::apply(in_whole_packs(x), in_whole_packs(bias), call);
  if (!kernels_take({x, bias})) return activated_reference(x + bias, kind);
  return ActivateFunction::apply(x.contiguous(), bias, call);
}

Tensor activated_projection(const Tensor& x, const Tensor& weight, const Tensor& given_bias,
                            Activation kind, double rate, const Random* random) {
  const Tensor bias =
      given_bias.defined() ? given_bias : at::zeros({weight.size(0)}, weight.options());
  require(x.dim() > 0 && weight.dim() == 2 && x.size(-1) == weight.size(1) && bias.dim() == 1 &&
              bias.size(0) == weight.size(0),
          ErrorKind::InvalidArgument, "a projection with weight ", weight.sizes(), " and bias ",
          bias.sizes(), " was given a tensor of shape ", x.sizes());
  require(rate >= 0 && rate < 1, ErrorKind::InvalidArgument, "dropout rate ", rate,
          " is not in [0, 1)");
  const auto call =
      c10::make_intrusive<ActivationCall>(kind, random ? rate : 0, random ? random->key() : 0);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const Tensor rows = x.reshape({-1, weight.size(1)});
  if (device_takes_projection(x, weight, given_bias)) {
    const bool rounds = current_precision() == Precision::BFloat16;
    return ProjectionFunction::apply(rows, rounds ? rounded_on_device(weight) : weight,
                                     given_bias.defined()
                                         ? c10::optional<Tensor>(in_whole_packs(given_bias))
                                         : c10::nullopt,
                                     call)
        .view(shape);
  }
  if (!kernels_take({x, weight, bias}))
    return dropout(activated_reference(at::linear(x, weight, bias), kind), call->rate,
                   Random(call->key));
  return ProjectionFunction::apply(rows, weight, c10::optional<Tensor>(bias), call).view(shape);
}

}  // namespace fovea
