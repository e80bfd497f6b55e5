#include "fovea/tensor/half_product.h"

#include <algorithm>

#include "fovea/kernels/half_product/half_product.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr int64_t kFewRows = 16;             // with more, widening first is faster
constexpr int64_t kOutputsOfSlice = 64;      // of the kernel
constexpr int64_t kWidenedAtOnce = 1 << 20;  // numbers

/// work(first, widened rows) for blocks of rows of the weight.
template <class Work>
void for_widened(const Tensor& weight, Work work) {
  const int64_t block = std::max<int64_t>(1, kWidenedAtOnce / std::max<int64_t>(1, weight.size(1)));
  for (int64_t first = 0; first < weight.size(0); first += block)
    work(first, weight.narrow(0, first, std::min(block, weight.size(0) - first)).to(at::kFloat));
}

/// x [N, in] -> [N, out]
Tensor multiply(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!x.is_cpu()) {
    const Tensor y = at::mm(x.to(weight.scalar_type()), weight.t()).to(at::kFloat);
    return bias.defined() ? y + bias : y;
  }
  Tensor y = at::empty({x.size(0), weight.size(0)}, x.options());
  const bool few = x.size(0) <= kFewRows && weight.scalar_type() == at::kBFloat16 &&
                   weight.is_contiguous() && !ReadableOnly::is_asked_for();
  if (few) {
    const Tensor rows = x.contiguous(), added = bias.defined() ? bias.contiguous() : bias;
    const kernels::HalfProduct of{rows.size(0),
                                  rows.size(1),
                                  weight.size(0),
                                  rows.data_ptr<float>(),
                                  static_cast<const uint16_t*>(weight.data_ptr()),
                                  added.defined() ? added.data_ptr<float>() : nullptr,
                                  y.data_ptr<float>()};
    const int64_t slices = (of.out + kOutputsOfSlice - 1) / kOutputsOfSlice;
    run_parallel(slices, [&](int64_t slice) {
      kernels::half_product(of, slice * kOutputsOfSlice,
                            std::min(of.out, (slice + 1) * kOutputsOfSlice));
    });
    return y;
  }
  for_widened(weight, [&](int64_t first, const Tensor& rows) {
    y.narrow(1, first, rows.size(0)).copy_(at::mm(x, rows.t()));
  });
  return bias.defined() ? y.add_(bias) : y;
}

class HalfLinear : public torch::autograd::Function<HalfLinear> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const c10::optional<Tensor>& bias) {
    context->save_for_backward({weight});
    return multiply(x, weight, bias ? *bias : Tensor());
  }

  /// dx = dy W
  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const Tensor &dy = arrived[0], weight = context->get_saved_variables()[0];
    if (!dy.is_cpu()) return {at::mm(dy.to(weight.scalar_type()), weight).to(at::kFloat), {}, {}};
    Tensor dx = at::zeros({dy.size(0), weight.size(1)}, dy.options());
    for_widened(weight, [&](int64_t first, const Tensor& rows) {
      dx = dx + at::mm(dy.narrow(1, first, rows.size(0)), rows);
    });
    return {dx, {}, {}};
  }
};

}  // namespace

bool is_half_linear(const Tensor& x, const Tensor& weight) {
  const auto type = weight.scalar_type();
  return x.scalar_type() == at::kFloat && (type == at::kBFloat16 || type == at::kHalf) &&
         !weight.requires_grad();
}

Tensor half_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const Tensor rows = x.reshape({-1, weight.size(1)});  // [N, in]
  if (!x.requires_grad() || !at::GradMode::is_enabled())
    return multiply(rows, weight, bias).view(shape);
  const auto given = bias.defined() ? c10::optional<Tensor>(bias) : c10::nullopt;
  return HalfLinear::apply(rows, weight, given).view(shape);
}

}  // namespace fovea
