#include "fovea/nn/ops/layer_norm.h"

#include "fovea/base/error.h"
#include "fovea/kernels/layer_norm/layer_norm.h"
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
using kernels::device::NumberType;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// What a call does besides its tensors, as the graph remembers it.
struct NormCall : torch::CustomClassHolder {
  double epsilon = 0, rate = 0;
  uint64_t key = 0;
  bool stays_wide = false;  // on a GPU y is float32 in any scope

  // On a GPU, from the forward pass on.
  kernels::device::DeviceDropout drawn{};
  NumberType x = NumberType::Float32, y = NumberType::Float32, residual = NumberType::Float32;

  static const NormCall& saved_in(AutogradContext* context) {
    return static_cast<const NormCall&>(*context->saved_data["call"].toCapsule());
  }
};
using NormCallPtr = c10::intrusive_ptr<NormCall>;

struct NormResult {
  Tensor y, z;                 // [..., width]; without a residual z is x
  Tensor mean, inverse_sigma;  // [rows]
};

struct NormGradients {
  Tensor x, residual, weight, bias;
};

// ---- Reference ----

struct NormalisedRows {
  Tensor inverse_sigma;  // [..., 1]
  Tensor n;              // [..., width], mean 0 and variance 1

  NormalisedRows(const Tensor& z, double epsilon) {
    const Tensor distance = z - z.mean(-1, /*keepdim=*/true);
    inverse_sigma = (distance.square().mean(-1, /*keepdim=*/true) + epsilon).rsqrt();
    n = distance * inverse_sigma;
  }
};

/// {y, z}
tensor_list norm_reference(const Tensor& x, const Tensor& residual, const Tensor& weight,
                           const Tensor& bias, const NormCall& call) {
  const Tensor z = residual.defined() ? residual + dropout(x, call.rate, Random(call.key)) : x;
  if (!z.is_cpu()) return {at::layer_norm(z, {z.size(-1)}, weight, bias, call.epsilon), z};
  return {NormalisedRows(z, call.epsilon).n * weight + bias, z};
}

/// For those who differentiate the gradients again.
NormGradients norm_gradients_reference(const tensor_list& saved, const tensor_list& arrived,
                                       const NormCall& call) {
  const Tensor &z = saved[0], &weight = saved[3];
  const bool added = arrived.size() > 1;
  const Tensor dy = arrived[0].defined() ? arrived[0] : at::zeros_like(z);
  const NormalisedRows normal(z, call.epsilon);
  const Tensor h = dy * weight;
  Tensor dz = normal.inverse_sigma * (h - h.mean(-1, /*keepdim=*/true) -
                                      normal.n * (h * normal.n).mean(-1, /*keepdim=*/true));
  if (added && arrived[1].defined()) dz = dz + arrived[1];
  const auto over_rows = [&](const Tensor& x) { return x.reshape({-1, z.size(-1)}).sum(0); };
  return {dropout(dz, call.rate, Random(call.key)), added ? dz : Tensor(), over_rows(dy * normal.n),
          over_rows(dy)};
}

// ---- CPU ----

kernels::LayerNormShape cpu_norm_shape(const Tensor& x, const NormCall& call) {
  const int64_t columns = x.size(-1);
  return {x.numel() / columns, columns, static_cast<float>(call.epsilon),
          kernels::Dropout(call.rate, call.key)};
}

float* floats(const Tensor& x) {
  return x.defined() ? x.data_ptr<float>() : nullptr;
}

NormResult norm_on_cpu(const Tensor& x, const Tensor& residual, const Tensor& weight,
                       const Tensor& bias, const NormCall& call) {
  const kernels::LayerNormShape shape = cpu_norm_shape(x, call);
  const NormResult got{at::empty_like(x), residual.defined() ? at::empty_like(x) : x,
                       at::empty({shape.rows}, x.options()), at::empty({shape.rows}, x.options())};
  const kernels::LayerNormForward at{
      floats(x),     floats(residual), floats(weight),   floats(bias),
      floats(got.z), floats(got.y),    floats(got.mean), floats(got.inverse_sigma)};
  run_parallel(shape.slices(),
               [&](int64_t slice) { kernels::layer_norm_forward(shape, slice, at); });
  return got;
}

NormGradients cpu_norm_gradients(const tensor_list& saved, const tensor_list& arrived,
                                 const NormCall& call) {
  const Tensor &z = saved[0], &mean = saved[1], &inverse_sigma = saved[2], &weight = saved[3];
  const kernels::LayerNormShape shape = cpu_norm_shape(z, call);
  const bool added = arrived.size() > 1;
  const Tensor dy = arrived[0].defined() ? arrived[0].contiguous() : at::zeros_like(z);
  const Tensor more = added && arrived[1].defined() ? arrived[1].contiguous() : Tensor();
  const Tensor dz = at::empty_like(z),
               dx = shape.dropout.threshold > 0 ? at::empty_like(z) : Tensor(),
               sums = at::empty({shape.slices(), 2, shape.columns}, weight.options());
  const NormGradients got{dx.defined() ? dx : dz, added ? dz : Tensor(), at::empty_like(weight),
                          at::empty_like(weight)};
  const kernels::LayerNormBackward at{floats(z),      floats(mean), floats(inverse_sigma),
                                      floats(weight), floats(dy),   floats(more),
                                      floats(dz),     floats(dx),   floats(sums)};
  run_parallel(shape.slices(),
               [&](int64_t slice) { kernels::layer_norm_backward(shape, slice, at); });
  kernels::layer_norm_sums(shape, floats(sums), floats(got.weight), floats(got.bias));
  return got;
}

// ---- GPU ----

at::ScalarType scalar_type(NumberType type) {
  return type == NumberType::BFloat16 ? at::kBFloat16 : at::kFloat;
}

kernels::device::LayerNormShape device_norm_shape(const Tensor& x, bool adds,
                                                  const NormCall& call) {
  const int64_t columns = x.size(-1);
  return {x.numel() / columns, columns,   static_cast<float>(call.epsilon), call.x, call.y, adds,
          call.residual,       call.drawn};
}

bool device_takes_norm(const Tensor& x, const Tensor& residual, const Tensor& weight,
                       const Tensor& bias) {
  return device_kernels_take({x, residual, weight, bias}) && weight.scalar_type() == at::kFloat &&
         bias.scalar_type() == at::kFloat && x.numel() > 0 &&
         kernels::device::layer_norm_takes(x.size(-1));
}

/// In a bf16 scope y is bfloat16: what follows is a product that would round it; z is float32.
NormResult norm_on_device(const Tensor& x, const Tensor& residual, const Tensor& weight,
                          const Tensor& bias, NormCall& call) {
  const bool adds = residual.defined(),
             rounds = !call.stays_wide && current_precision() == Precision::BFloat16;
  const at::TensorOptions wide = x.options().dtype(at::kFloat);
  call.x = number_type_of(x), call.y = rounds ? NumberType::BFloat16 : NumberType::Float32;
  if (adds) {
    call.residual = number_type_of(residual);
    call.drawn = device_dropout(x.device(), call.rate, call.key);
  }
  const kernels::device::LayerNormShape shape = device_norm_shape(x, adds, call);
  const NormResult got{at::empty(x.sizes(), x.options().dtype(scalar_type(call.y))),
                       adds ? at::empty(x.sizes(), wide) : x, at::empty({shape.rows}, wide),
                       at::empty({shape.rows}, wide)};
  kernels::device::layer_norm_forward(
      shape,
      {x.data_ptr(), adds ? residual.data_ptr() : nullptr, floats(weight), floats(bias),
       adds ? floats(got.z) : nullptr, got.y.data_ptr(), floats(got.mean),
       floats(got.inverse_sigma)},
      current_device_stream());
  return got;
}

NormGradients device_norm_gradients(const tensor_list& saved, const tensor_list& arrived,
                                    const NormCall& call) {
  const Tensor &z = saved[0], &mean = saved[1], &inverse_sigma = saved[2], &weight = saved[3];
  const bool adds = arrived.size() > 1;
  const auto empty = [&](NumberType type) {
    return at::empty(z.sizes(), z.options().dtype(scalar_type(type)));
  };
  const Tensor dy = arrived[0].defined() ? in_whole_packs(arrived[0].to(scalar_type(call.y)))
                                         : empty(call.y).zero_();
  Tensor more, dz, dx;
  if (adds) {
    if (arrived[1].defined()) more = in_whole_packs(arrived[1].to(at::kFloat));
    dz = empty(call.residual);
  }
  // Where nothing is dropped or rounded otherwise, x has the gradient of the residual.
  const bool same = adds && call.drawn.threshold == 0 && call.x == call.residual;
  if (!same) dx = empty(call.x);
  const kernels::device::LayerNormShape shape = device_norm_shape(z, adds, call);
  const NormGradients got{same ? dz : dx, dz, at::empty_like(weight), at::empty_like(weight)};
  const Tensor slices = at::empty(
      {kernels::device::layer_norm_slices(shape.rows), 2, shape.columns}, weight.options());
  kernels::device::layer_norm_backward(
      shape,
      {z.data_ptr(), floats(mean), floats(inverse_sigma), floats(weight), dy.data_ptr(),
       floats(more), dz.defined() ? dz.data_ptr() : nullptr, same ? nullptr : dx.data_ptr(),
       floats(slices), floats(got.weight), floats(got.bias)},
      current_device_stream());
  return got;
}

// ---- Both, and the nodes of the graph ----

/// Whether the gradients are differentiated again, which only a CPU's can be.
bool is_norm_differentiated_again(const Tensor& z) {
  require(!at::GradMode::is_enabled() || !z.is_cuda(), ErrorKind::Unsupported,
          "a GPU's layer norm cannot be differentiated twice; hold a ReadableOnly while the "
          "network runs");
  return at::GradMode::is_enabled();
}

class LayerNormFunction : public torch::autograd::Function<LayerNormFunction> {
 public:
  /// {y}, and z where there is a residual.
  static tensor_list forward(AutogradContext* context, const Tensor& x,
                             const c10::optional<Tensor>& addend, const Tensor& weight,
                             const Tensor& bias, const NormCallPtr& call) {
    const AutocastOff keeps_types;
    const Tensor residual = addend.value_or(Tensor());
    const NormResult got = x.is_cuda() ? norm_on_device(x, residual, weight, bias, *call)
                                       : norm_on_cpu(x, residual, weight, bias, *call);
    context->set_materialize_grads(false);
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    context->save_for_backward({got.z, got.mean, got.inverse_sigma, weight});
    return residual.defined() ? tensor_list{got.y, got.z} : tensor_list{got.y};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const AutocastOff keeps_types;
    const tensor_list saved = context->get_saved_variables();
    const NormCall& call = NormCall::saved_in(context);
    const NormGradients got = is_norm_differentiated_again(saved[0])
                                  ? norm_gradients_reference(saved, arrived, call)
                              : saved[0].is_cuda() ? device_norm_gradients(saved, arrived, call)
                                                   : cpu_norm_gradients(saved, arrived, call);
    return {got.x, got.residual, got.weight, got.bias, {}};
  }
};

/// {y}, and z where there is a residual.
tensor_list norm(const Tensor& x, const Tensor& residual, const LayerNorm& parameters,
                 const NormCallPtr& call) {
  const Tensor &weight = parameters.weight, &bias = parameters.bias;
  c10::optional<Tensor> addend;
  if (device_takes_norm(x, residual, weight, bias)) {
    if (residual.defined()) {
      const bool fits = x.scalar_type() == residual.scalar_type();  // else it must be float32
      addend = in_whole_packs(fits ? residual : residual.to(at::kFloat));
    }
    return LayerNormFunction::apply(in_whole_packs(x), addend, in_whole_packs(weight),
                                    in_whole_packs(bias), call);
  }
  if (x.numel() == 0 || !kernels_take({x, residual, weight, bias}))
    return norm_reference(x, residual, weight, bias, *call);
  if (residual.defined()) addend = residual.contiguous();
  return LayerNormFunction::apply(x.contiguous(), addend, weight, bias, call);
}

NormCallPtr norm_call(double epsilon, double rate = 0, const Random* random = nullptr,
                      bool stays_wide = false) {
  auto call = c10::make_intrusive<NormCall>();
  call->epsilon = epsilon, call->stays_wide = stays_wide;
  if (random) call->rate = rate, call->key = random->key();
  return call;
}

/// residual + dropout(x) in float32, on a GPU.
class DroppedSumFunction : public torch::autograd::Function<DroppedSumFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& residual, const Tensor& x,
                        const NormCallPtr& call) {
    const AutocastOff keeps_types;
    call->x = number_type_of(x), call->drawn = device_dropout(x.device(), call->rate, call->key);
    const Tensor z = at::empty_like(residual);
    kernels::device::dropped_sum_forward(call->drawn, call->x, x.numel(), x.data_ptr(),
                                         floats(residual), floats(z), current_device_stream());
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    return z;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const AutocastOff keeps_types;
    const NormCall& call = NormCall::saved_in(context);
    const Tensor dz = in_whole_packs(arrived[0].to(at::kFloat));
    is_norm_differentiated_again(dz);
    const Tensor dx = at::empty(dz.sizes(), dz.options().dtype(scalar_type(call.x)));
    kernels::device::dropped_sum_backward(call.drawn, call.x, dz.numel(), floats(dz), dx.data_ptr(),
                                          current_device_stream());
    return {dz, dx, {}};
  }
};

bool device_takes_sum(const Tensor& residual, const Tensor& x) {
  constexpr int64_t kPackOfNumbers = 4;
  return device_kernels_take({residual, x}) && residual.sizes() == x.sizes() && x.numel() > 0 &&
         x.numel() % kPackOfNumbers == 0;
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
  return norm(x, {}, *this, norm_call(epsilon_))[0];
}

AddedNorm LayerNorm::add(const Tensor& residual, const Tensor& x, double rate, const Random* random,
                         bool is_residual) const {
  check(x);
  require(residual.sizes() == x.sizes(), ErrorKind::InvalidArgument, "a layer norm cannot add ",
          x.sizes(), " to ", residual.sizes(), "; the shapes must be the same");
  require(rate >= 0 && rate < 1, ErrorKind::InvalidArgument, "dropout rate ", rate,
          " is not in [0, 1)");
  const tensor_list both = norm(x, residual, *this, norm_call(epsilon_, rate, random, is_residual));
  return {both[1], both[0]};
}

Tensor add_dropped(const Tensor& residual, const Tensor& x, double rate, const Random* random) {
  if (!random || rate == 0) return residual + x;
  if (device_takes_sum(residual, x))
    return DroppedSumFunction::apply(in_whole_packs(residual.to(at::kFloat)), in_whole_packs(x),
                                     norm_call(0, rate, random));
  return residual + dropout(x, rate, *random);
}

}  // namespace fovea
