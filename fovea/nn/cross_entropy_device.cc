#include "fovea/nn/cross_entropy_device.h"

#include "fovea/core/device_stream.h"
#include "fovea/core/device_tensor.h"
#include "fovea/core/error.h"
#include "fovea/core/torch.h"
#include "fovea/kernels/cross_entropy/cross_entropy.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

kernels::device::CrossEntropy call_of(const Tensor& logits, const Tensor& targets,
                                      const Tensor& shares, const Tensor& logs, double smoothing) {
  return {number_type_of(logits),
          logits.size(0),
          logits.size(1),
          logits.data_ptr(),
          targets.data_ptr<int64_t>(),
          shares.data_ptr<float>(),
          static_cast<float>(smoothing),
          logs.data_ptr<float>()};
}

class DeviceCrossEntropy : public torch::autograd::Function<DeviceCrossEntropy> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& logits, const Tensor& targets,
                        const Tensor& shares, double smoothing) {
    const Tensor logs = at::empty_like(shares), losses = at::empty_like(shares);  // [N]
    kernels::device::cross_entropy_forward(call_of(logits, targets, shares, logs, smoothing),
                                           losses.data_ptr<float>(), current_device_stream());
    context->save_for_backward({logits, targets, shares, logs});
    context->saved_data["smoothing"] = smoothing;
    return losses.sum();
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    require(!at::GradMode::is_enabled(), ErrorKind::Unsupported,
            "a GPU's loss cannot be differentiated twice; hold a ReadableOnly while the network "
            "runs");
    const tensor_list saved = context->get_saved_variables();
    const Tensor gradient = at::empty_like(saved[0]), factor = arrived[0].to(at::kFloat);
    kernels::device::cross_entropy_backward(call_of(saved[0], saved[1], saved[2], saved[3],
                                                    context->saved_data["smoothing"].toDouble()),
                                            factor.data_ptr<float>(), gradient.data_ptr(),
                                            current_device_stream());
    return {gradient, {}, {}, {}};
  }
};

}  // namespace

Tensor device_cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& shares,
                            double smoothing) {
  return DeviceCrossEntropy::apply(logits.contiguous(), targets.contiguous(), shares.contiguous(),
                                   smoothing);
}

}  // namespace fovea
