#include "fovea/nn/layer_norm_device.h"

#include "fovea/core/device_draws.h"
#include "fovea/core/device_stream.h"
#include "fovea/core/device_tensor.h"
#include "fovea/core/error.h"
#include "fovea/core/product.h"
#include "fovea/core/torch.h"
#include "fovea/kernels/layer_norm/layer_norm.h"
#include "fovea/nn/kept_dropout.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void require_one_derivative() {
  require(
      !at::GradMode::is_enabled(), ErrorKind::Unsupported,
      "a GPU's layer norm cannot be differentiated twice; hold a ReadableOnly while the network "
      "runs");
}

at::ScalarType scalar_type(kernels::device::NumberType type) {
  return type == kernels::device::NumberType::BFloat16 ? at::kBFloat16 : at::kFloat;
}

class DeviceNorm : public torch::autograd::Function<DeviceNorm> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x,
                             const c10::optional<Tensor>& addend, const Tensor& weight,
                             const Tensor& bias, double epsilon, double rate, int64_t key,
                             bool rounds) {
    const AutocastOff keeps_types;
    const at::TensorOptions wide = x.options().dtype(at::kFloat);
    const Tensor residual = addend.value_or(Tensor());
    const Tensor y = at::empty(x.sizes(), x.options().dtype(rounds ? at::kBFloat16 : at::kFloat));
    const Tensor z = residual.defined() ? at::empty(x.sizes(), wide) : x;
    kernels::device::LayerNormShape shape = shape_of(x, y);
    shape.epsilon = static_cast<float>(epsilon);
    if (residual.defined()) {
      shape.adds = true, shape.residual = number_type_of(residual);
      shape.dropout = device_dropout(x.device(), rate, static_cast<uint64_t>(key));
    }
    const Tensor mean = at::empty({shape.rows}, wide), inverse_sigma = at::empty_like(mean);
    kernels::device::layer_norm_forward(
        shape,
        {x.data_ptr(), shape.adds ? residual.data_ptr() : nullptr, weight.data_ptr<float>(),
         bias.data_ptr<float>(), shape.adds ? z.data_ptr<float>() : nullptr, y.data_ptr(),
         mean.data_ptr<float>(), inverse_sigma.data_ptr<float>()},
        current_device_stream());
    context->set_materialize_grads(false);
    context->save_for_backward({z, mean, inverse_sigma, weight});
    context->saved_data["x"] = static_cast<int64_t>(shape.x);
    context->saved_data["y"] = static_cast<int64_t>(shape.y);
    context->saved_data["residual"] = static_cast<int64_t>(shape.residual);
    keep_dropout(context, shape.dropout);
    return shape.adds ? tensor_list{y, z} : tensor_list{y};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require_one_derivative();
    const AutocastOff keeps_types;
    const tensor_list saved = context->get_saved_variables();
    const Tensor &z = saved[0], &mean = saved[1], &inverse_sigma = saved[2], &weight = saved[3];
    kernels::device::LayerNormShape shape = shape_of(z, z);
    shape.x = kept_type(context, "x"), shape.y = kept_type(context, "y");
    shape.residual = kept_type(context, "residual");
    shape.adds = arrived.size() > 1;  // z is a result too
    shape.dropout = kept_dropout(context);

    const at::TensorOptions of_y = z.options().dtype(scalar_type(shape.y));
    const Tensor dy = arrived[0].defined() ? in_whole_packs(arrived[0].to(scalar_type(shape.y)))
                                           : at::zeros(z.sizes(), of_y);
    Tensor more, dz, dx;
    if (shape.adds) {
      if (arrived[1].defined()) more = in_whole_packs(arrived[1].to(at::kFloat));
      dz = at::empty(z.sizes(), z.options().dtype(scalar_type(shape.residual)));
    }
    // Where nothing is dropped or rounded otherwise, x has the gradient of the residual.
    const bool same = shape.adds && shape.dropout.threshold == 0 && shape.x == shape.residual;
    if (!same) dx = at::empty(z.sizes(), z.options().dtype(scalar_type(shape.x)));
    const Tensor dweight = at::empty_like(weight), dbias = at::empty_like(weight);
    const Tensor parts = at::empty(
        {kernels::device::layer_norm_slices(shape.rows), 2, shape.columns}, weight.options());
    kernels::device::layer_norm_backward(
        shape,
        {z.data_ptr(), mean.data_ptr<float>(), inverse_sigma.data_ptr<float>(),
         weight.data_ptr<float>(), dy.data_ptr(), more.defined() ? more.data_ptr<float>() : nullptr,
         dz.defined() ? dz.data_ptr() : nullptr, same ? nullptr : dx.data_ptr(),
         parts.data_ptr<float>(), dweight.data_ptr<float>(), dbias.data_ptr<float>()},
        current_device_stream());
    return {same ? dz : dx, dz, dweight, dbias, {}, {}, {}, {}};
  }

 private:
  static kernels::device::LayerNormShape shape_of(const Tensor& x, const Tensor& y) {
    kernels::device::LayerNormShape shape;
    shape.columns = x.size(-1), shape.rows = x.numel() / shape.columns;
    shape.x = number_type_of(x), shape.y = number_type_of(y);
    return shape;
  }

  static kernels::device::NumberType kept_type(AutogradContext* context, const char* name) {
    return static_cast<kernels::device::NumberType>(context->saved_data[name].toInt());
  }
};

class DeviceDroppedSum : public torch::autograd::Function<DeviceDroppedSum> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& residual, const Tensor& x,
                        double rate, int64_t key) {
    const AutocastOff keeps_types;
    const auto dropout = device_dropout(x.device(), rate, static_cast<uint64_t>(key));
    const Tensor z = at::empty_like(residual);
    kernels::device::dropped_sum_forward(dropout, number_type_of(x), x.numel(), x.data_ptr(),
                                         residual.data_ptr<float>(), z.data_ptr<float>(),
                                         current_device_stream());
    keep_dropout(context, dropout);
    context->saved_data["x"] = static_cast<int64_t>(number_type_of(x));
    return z;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require_one_derivative();
    const AutocastOff keeps_types;
    const auto type = static_cast<kernels::device::NumberType>(context->saved_data["x"].toInt());
    const Tensor dz = in_whole_packs(arrived[0].to(at::kFloat));
    const Tensor dx = at::empty(dz.sizes(), dz.options().dtype(scalar_type(type)));
    kernels::device::dropped_sum_backward(kept_dropout(context), type, dz.numel(),
                                          dz.data_ptr<float>(), dx.data_ptr(),
                                          current_device_stream());
    return {dz, dx, {}, {}};
  }
};

}  // namespace

bool device_norm_takes(const Tensor& x, const Tensor& residual, const Tensor& weight,
                       const Tensor& bias) {
  return device_kernels_take({x, residual, weight, bias}) && weight.scalar_type() == at::kFloat &&
         bias.scalar_type() == at::kFloat && x.numel() > 0 &&
         kernels::device::layer_norm_takes(x.size(-1));
}

std::vector<Tensor> device_norm(const Tensor& x, const Tensor& residual, const Tensor& weight,
                                const Tensor& bias, const DeviceNormSettings& how) {
  c10::optional<Tensor> addend;
  if (residual.defined()) {
    const bool fits = x.scalar_type() == residual.scalar_type();  // else it must be float32
    addend = in_whole_packs(fits ? residual : residual.to(at::kFloat));
  }
  return DeviceNorm::apply(in_whole_packs(x), addend, in_whole_packs(weight), in_whole_packs(bias),
                           how.epsilon, how.rate, static_cast<int64_t>(how.key),
                           !how.stays_wide && current_precision() == Precision::BFloat16);
}

bool device_sum_takes(const Tensor& residual, const Tensor& x) {
  constexpr int64_t kPackOfNumbers = 4;
  return device_kernels_take({residual, x}) && residual.sizes() == x.sizes() && x.numel() > 0 &&
         x.numel() % kPackOfNumbers == 0;
}

Tensor device_dropped_sum(const Tensor& residual, const Tensor& x, double rate, uint64_t key) {
  return DeviceDroppedSum::apply(in_whole_packs(residual.to(at::kFloat)), in_whole_packs(x), rate,
                                 static_cast<int64_t>(key));
}

}  // namespace fovea
