#include "fovea/metrics/__name__.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

double __name__(const at::Tensor& predicted, const at::Tensor& target, double tolerance) {
  require(predicted.sizes() == target.sizes(), ErrorKind::InvalidArgument, "__name__: found ",
          predicted.numel(), " predictions of ", target.numel(), " targets");
  if (target.numel() == 0) return 0;
  return ((predicted - target).abs() <= tolerance).to(at::kDouble).mean().item<double>();
}

}  // namespace fovea
