#include "fovea/tensor/predictor.h"

#include <ATen/ATen.h>

#include "fovea/base/error.h"

namespace fovea {

at::Tensor Predictor::replay(const Example& example, const Prediction& prediction, Tap& tap) const {
  return replay_batch({&example, 1}, {&prediction, 1}, tap)[0];  // [U]
}

Example Predictor::erase(const Example&, const std::string& axis, std::span<const int64_t>) const {
  fail(ErrorKind::Unsupported, "units of the axis '", axis, "' cannot be erased");
}

}  // namespace fovea
