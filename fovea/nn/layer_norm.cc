#include "fovea/nn/layer_norm.h"

#include "fovea/core/error.h"
#include "fovea/core/kernel_path.h"
#include "fovea/core/parallel.h"
#include "fovea/core/torch.h"
#include "fovea/kernels/layer_norm/layer_norm.h"
#include "fovea/nn/layer_norm_device.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct Settings {
  double epsilon = 0, rate = 0;
  uint64_t key = 0;
  bool stays_wide = false;
};

struct Normalised {
  Tensor inverse_sigma;  // [..., 1]
  Tensor n;              // [..., width], mean 0 and variance 1

  Normalised(const Tensor& z, double epsilon) {
    const Tensor distance = z - z.mean(-1, /*keepdim=*/true);
    inverse_sigma = (distance.square().mean(-1, /*keepdim=*/true) + epsilon).rsqrt();
    n = distance * inverse_sigma;
  }
};

/// {y, z}. Without a residual z is x.
tensor_list readable(const Tensor& x, const Tensor& residual, const Tensor& weight,
                     const Tensor& bias, const Settings& how) {
  const Tensor z = residual.defined() ? residual + dropout(x, how.rate, Random(how.key)) : x;
  if (!z.is_cpu()) return {at::layer_norm(z, {z.size(-1)}, weight, bias, how.epsilon), z};
  return {Normalised(z, how.epsilon).n * weight + bias, z};
}

kernels::LayerNormShape shape_of(const Tensor& x, const Settings& how) {
  const int64_t columns = x.size(-1);
  return {x.numel() / columns, columns, static_cast<float>(how.epsilon),
          kernels::Dropout(how.rate, how.key)};
}

const float* numbers(const Tensor& x) {
  return x.defined() ? x.data_ptr<float>() : nullptr;
}

/// The gradients of one call, all parts.
struct Gradients {
  Tensor z, x, weight, bias;

  Gradients(const kernels::LayerNormShape& shape, const tensor_list& saved, const Tensor& dy,
            const Tensor& dz_more) {
    const Tensor &kept = saved[0], &mean = saved[1], &inverse_sigma = saved[2], &gamma = saved[3];
    z = at::empty_like(kept);
    x = shape.dropout.threshold > 0 ? at::empty_like(kept) : z;
    weight = at::empty_like(gamma), bias = at::empty_like(gamma);
    const Tensor sums = at::empty({shape.slices(), 2, shape.columns}, gamma.options());
    const kernels::LayerNormBackward at{numbers(kept),
                                        numbers(mean),
                                        numbers(inverse_sigma),
                                        numbers(gamma),
                                        numbers(dy),
                                        numbers(dz_more),
                                        z.data_ptr<float>(),
                                        x.is_same(z) ? nullptr : x.data_ptr<float>(),
                                        sums.data_ptr<float>()};
    run_parallel(shape.slices(),
                 [&](int64_t part) { kernels::layer_norm_backward(shape, part, at); });
    kernels::layer_norm_sums(shape, numbers(sums), weight.data_ptr<float>(),
                             bias.data_ptr<float>());
  }
};

class LayerNormFunction : public torch::autograd::Function<LayerNormFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x,
                             const c10::optional<Tensor>& addend, const Tensor& weight,
                             const Tensor& bias, double epsilon, double rate, int64_t key) {
    const Settings how{epsilon, rate, static_cast<uint64_t>(key)};
    const kernels::LayerNormShape shape = shape_of(x, how);
    const Tensor residual = addend.value_or(Tensor());
    const Tensor z = residual.defined() ? at::empty_like(x) : x, y = at::empty_like(x);
    const Tensor mean = at::empty({shape.rows}, x.options());
    const Tensor inverse_sigma = at::empty({shape.rows}, x.options());
    const kernels::LayerNormForward at{numbers(x),
                                       numbers(residual),
                                       numbers(weight),
                                       numbers(bias),
                                       z.data_ptr<float>(),
                                       y.data_ptr<float>(),
                                       mean.data_ptr<float>(),
                                       inverse_sigma.data_ptr<float>()};
    run_parallel(shape.slices(),
                 [&](int64_t part) { kernels::layer_norm_forward(shape, part, at); });
    context->set_materialize_grads(false);
    context->saved_data["epsilon"] = epsilon;
    context->saved_data["rate"] = rate;
    context->saved_data["key"] = key;
    context->save_for_backward({z, mean, inverse_sigma, weight, bias});
    return residual.defined() ? tensor_list{y, z} : tensor_list{y};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const tensor_list saved = context->get_saved_variables();
    const Settings how{context->saved_data["epsilon"].toDouble(),
                       context->saved_data["rate"].toDouble(),
                       static_cast<uint64_t>(context->saved_data["key"].toInt())};
    const bool added = arrived.size() > 1;  // z is a result too
    if (at::GradMode::is_enabled()) return differentiable(how, saved, arrived, added);
    const Tensor dy = arrived[0].defined() ? arrived[0].contiguous() : at::zeros_like(saved[0]);
    const Tensor more = added && arrived[1].defined() ? arrived[1].contiguous() : Tensor();
    const Gradients got(shape_of(saved[0], how), saved, dy, more);
    return {got.x, added ? got.z : Tensor(), got.weight, got.bias, {}, {}, {}};
  }

 private:
  /// The gradients by tensor operations, for those who differentiate them again.
  static tensor_list differentiable(const Settings& how, const tensor_list& saved,
                                    const tensor_list& arrived, bool added) {
    const Tensor &z = saved[0], &weight = saved[3];
    const Tensor dy = arrived[0].defined() ? arrived[0] : at::zeros_like(z);
    const Normalised normal(z, how.epsilon);
    const Tensor h = dy * weight;
    Tensor dz = normal.inverse_sigma * (h - h.mean(-1, /*keepdim=*/true) -
                                        normal.n * (h * normal.n).mean(-1, /*keepdim=*/true));
    if (added && arrived[1].defined()) dz = dz + arrived[1];
    const auto over_rows = [&](const Tensor& x) { return x.reshape({-1, z.size(-1)}).sum(0); };
    const Tensor dweight = over_rows(dy * normal.n), dbias = over_rows(dy);
    return {
        dropout(dz, how.rate, Random(how.key)), added ? dz : Tensor(), dweight, dbias, {}, {}, {}};
  }
};

tensor_list norm(const Tensor& x, const Tensor& residual, const LayerNorm& parameters,
                 const Settings& how) {
  const Tensor &weight = parameters.weight, &bias = parameters.bias;
  if (device_norm_takes(x, residual, weight, bias))
    return device_norm(x, residual, weight, bias, {how.epsilon, how.rate, how.key, how.stays_wide});
  if (x.numel() == 0 || !kernels_take({x, residual, weight, bias}))
    return readable(x, residual, weight, bias, how);
  const auto addend =
      residual.defined() ? c10::optional<Tensor>(residual.contiguous()) : c10::nullopt;
  return LayerNormFunction::apply(x.contiguous(), addend, weight, bias, how.epsilon, how.rate,
                                  static_cast<int64_t>(how.key));
}

}  // namespace

LayerNorm::LayerNorm(int64_t width, double epsilon) : epsilon_(epsilon) {
  require(width > 0, ErrorKind::InvalidArgument, "a layer norm over ", width,
          " numbers cannot be made; the width must be positive");
  weight = register_parameter("weight", at::ones({width}));
  bias = register_parameter("bias", at::zeros({width}));
}

void LayerNorm::check(const Tensor& x) const {
  require(x.dim() > 0 && x.size(-1) == weight.size(0), ErrorKind::InvalidArgument,
          "a layer norm over ", weight.size(0), " numbers was given a tensor of shape ", x.sizes());
}

void LayerNorm::initialise() {
  torch::NoGradGuard no_gradients;
  weight.fill_(1);
  bias.zero_();
}

Tensor LayerNorm::forward(const Tensor& x) const {
  check(x);
  return norm(x, {}, *this, {epsilon_})[0];
}

AddedNorm LayerNorm::add(const Tensor& residual, const Tensor& x, double rate, const Random* random,
                         bool is_residual) const {
  check(x);
  require(residual.sizes() == x.sizes(), ErrorKind::InvalidArgument, "a layer norm cannot add ",
          x.sizes(), " to ", residual.sizes(), "; the shapes must be the same");
  require(rate >= 0 && rate < 1, ErrorKind::InvalidArgument, "dropout rate ", rate,
          " is not in [0, 1)");
  const tensor_list both =
      norm(x, residual, *this,
           {epsilon_, random ? rate : 0, random ? random->key() : uint64_t{0}, is_residual});
  return {both[1], both[0]};
}

Tensor add_dropped(const Tensor& residual, const Tensor& x, double rate, const Random* random) {
  if (!random || rate == 0) return residual + x;
  if (device_sum_takes(residual, x)) return device_dropped_sum(residual, x, rate, random->key());
  return residual + dropout(x, rate, *random);
}

}  // namespace fovea
