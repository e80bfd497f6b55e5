#include "fovea/nn/activation.h"

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/core/kernel_path.h"
#include "fovea/core/parallel.h"
#include "fovea/core/product.h"
#include "fovea/core/torch.h"
#include "fovea/nn/activation_device.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

Tensor readable(const Tensor& u, Activation kind) {
  return kind == Activation::Relu ? u.relu() : kind == Activation::Tanh ? u.tanh() : at::gelu(u);
}

/// act'(u); relu may be given its result instead of u.
Tensor readable_slope(const Tensor& u, Activation kind) {
  if (kind == Activation::Relu) return u.gt(0).to(u.scalar_type());
  if (kind == Activation::Tanh) return 1 - u.tanh().square();
  const Tensor below = 0.5 * (1 + (u * M_SQRT1_2).erf());
  return below + u * (u.square() * -0.5).exp() * (M_2_SQRTPI * M_SQRT1_2 / 2);
}

struct Settings {
  Activation kind;
  double rate = 0;
  uint64_t key = 0;

  bool relu() const { return kind == Activation::Relu; }
  void keep_in(AutogradContext* context) const {
    context->saved_data["kind"] = static_cast<int64_t>(kind);
    context->saved_data["rate"] = rate;
    context->saved_data["key"] = static_cast<int64_t>(key);
  }
  static Settings kept_in(AutogradContext* context) {
    return {static_cast<Activation>(context->saved_data["kind"].toInt()),
            context->saved_data["rate"].toDouble(),
            static_cast<uint64_t>(context->saved_data["key"].toInt())};
  }
};

kernels::ActivationShape shape_of(const Tensor& x, const Settings& how) {
  const int64_t columns = x.size(-1);
  return {how.kind, columns > 0 ? x.numel() / columns : 0, columns,
          kernels::Dropout(how.rate, how.key)};
}

/// dropout(act(x + bias)) into y, which may be x.
void forward_into(const Tensor& y, const Tensor& x, const Tensor& bias, const Settings& how) {
  const kernels::ActivationShape shape = shape_of(x, how);
  run_parallel(shape.slices(), [&](int64_t part) {
    kernels::activation_forward(shape, part, x.data_ptr<float>(), bias.data_ptr<float>(),
                                y.data_ptr<float>());
  });
}

struct Gradients {
  Tensor x, bias;

  /// `kept`: the result for relu, else x.
  Gradients(const Tensor& kept, const Tensor& b, const Tensor& dy, const Settings& how)
      : x(at::empty_like(kept)), bias(at::empty_like(b)) {
    const kernels::ActivationShape shape = shape_of(kept, how);
    const Tensor from = dy.contiguous(), sums = at::empty({shape.slices(), b.numel()}, b.options());
    const kernels::ActivationBackward at{kept.data_ptr<float>(), b.data_ptr<float>(),
                                         from.data_ptr<float>(), x.data_ptr<float>(),
                                         sums.data_ptr<float>()};
    run_parallel(shape.slices(),
                 [&](int64_t part) { kernels::activation_backward(shape, part, at); });
    kernels::activation_sums(shape, sums.data_ptr<float>(), bias.data_ptr<float>());
  }
};

/// du for those who differentiate it again. `kept` as above.
Tensor readable_du(const Tensor& kept, const Tensor& bias, const Tensor& dy, const Settings& how) {
  const Tensor share = dropout(dy, how.rate, Random(how.key));
  return share * readable_slope(how.relu() ? kept : kept + bias, how.kind);
}

class ActivateFunction : public torch::autograd::Function<ActivateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& bias,
                        int64_t kind) {
    const Settings how{static_cast<Activation>(kind)};
    const Tensor y = at::empty_like(x);
    forward_into(y, x, bias, how);
    how.keep_in(context);
    context->save_for_backward({how.relu() ? y : x, bias});
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const tensor_list saved = context->get_saved_variables();
    if (at::GradMode::is_enabled()) {
      const Tensor du = readable_du(saved[0], saved[1], arrived[0], Settings::kept_in(context));
      return {du, du.reshape({-1, saved[1].size(0)}).sum(0), {}};
    }
    const Gradients got(saved[0], saved[1], arrived[0], Settings::kept_in(context));
    return {got.x, got.bias, {}};
  }
};

class ProjectionFunction : public torch::autograd::Function<ProjectionFunction> {
 public:
  /// x [N, in] -> [N, out]
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, int64_t kind, double rate, int64_t key) {
    const Settings how{static_cast<Activation>(kind), rate, static_cast<uint64_t>(key)};
    const Tensor left = factor_of(x), right = factor_of(weight), u = product(left, right.t());
    const Tensor y = how.relu() ? u : at::empty_like(u);
    forward_into(y, u, bias, how);
    how.keep_in(context);
    context->save_for_backward({left, right, bias, u});  // relu: the product has become y
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const tensor_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    const Settings how = Settings::kept_in(context);
    if (at::GradMode::is_enabled()) {
      require(x.scalar_type() != at::kBFloat16, ErrorKind::Unsupported,
              "gradients of gradients need float32; leave --precision bf16 out");
      const Tensor kept = how.relu() ? saved[3] : at::mm(x, weight.t());
      const Tensor du = readable_du(kept, bias, arrived[0], how);
      return {du.mm(weight), du.t().mm(x), du.sum(0), {}, {}, {}};
    }
    const Gradients got(saved[3], bias, arrived[0], how);
    const Tensor du = x.scalar_type() == at::kBFloat16 ? got.x.to(at::kBFloat16) : got.x;
    return {product(du, weight), product(du.t(), x), got.bias, {}, {}, {}};
  }
};

}  // namespace

Activation activation_named(const std::string& name) {
  if (name == "relu") return Activation::Relu;
  require(name == "gelu", ErrorKind::InvalidArgument, "there is no activation '", name,
          "'; known: relu, gelu");
  return Activation::Gelu;
}

Tensor activate(const Tensor& x, const Tensor& bias, Activation kind) {
  require(x.dim() > 0 && bias.dim() == 1 && x.size(-1) == bias.size(0), ErrorKind::InvalidArgument,
          "a bias of shape ", bias.sizes(), " does not fit numbers of shape ", x.sizes());
  if (device_activation_takes(x, bias)) return device_activate(x, bias, kind);
  if (!kernels_take({x, bias})) return readable(x + bias, kind);
  return ActivateFunction::apply(x.contiguous(), bias, static_cast<int64_t>(kind));
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
  const double share = random ? rate : 0;
  const uint64_t key = random ? random->key() : 0;
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  if (device_projection_takes(x, weight, given_bias))
    return device_projection(x.reshape({-1, weight.size(1)}), weight, given_bias,
                             {kind, share, key})
        .view(shape);
  if (!kernels_take({x, weight, bias}))
    return dropout(readable(at::linear(x, weight, bias), kind), share, Random(key));
  return ProjectionFunction::apply(x.reshape({-1, weight.size(1)}), weight, bias,
                                   static_cast<int64_t>(kind), share, static_cast<int64_t>(key))
      .view(shape);
}

}  // namespace fovea
