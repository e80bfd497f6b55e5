// What the graph remembers of a dropout on a GPU between forward and backward: where its draws are,
// never a mask. Private to this folder.
#pragma once

#include "fovea/core/torch.h"
#include "fovea/kernels/device/draws.h"

namespace fovea {

struct KeptDropout : torch::CustomClassHolder {
  explicit KeptDropout(const kernels::device::DeviceDropout& drawn) : dropout(drawn) {}
  kernels::device::DeviceDropout dropout;
};

inline void keep_dropout(torch::autograd::AutogradContext* context,
                         const kernels::device::DeviceDropout& dropout) {
  context->saved_data["dropout"] =
      c10::IValue::make_capsule(c10::make_intrusive<KeptDropout>(dropout));
}

inline kernels::device::DeviceDropout kept_dropout(torch::autograd::AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<KeptDropout>(context->saved_data["dropout"].toCapsule())
      ->dropout;
}

}  // namespace fovea
