#include "fovea/nn/transformer/positions.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

Positions::Positions(PositionOptions options) : options_(std::move(options)) {
  if (options_.name == "learned")
    weight = register_parameter("weight", at::zeros({options_.maximum, options_.width}));
}

void Positions::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  if (weight.defined()) weight.copy_(random.normal_tensor(weight.sizes(), 0, 0.02, at::kFloat));
}

at::Tensor Positions::add(const at::Tensor& x, int64_t first) const {
  const int64_t count = x.size(1);
  if (options_.name == "none") return x;
  if (options_.name == "sinusoidal")
    return x + sinusoidal_positions(first, count, options_.width, x.device()).to(x.scalar_type());
  require(first + count <= options_.maximum, ErrorKind::BadData, "a sequence of ", first + count,
          " units is longer than the ", options_.maximum,
          " positions that the model has learned; shorten it, or train with a larger "
          "model.maximum_length");
  return x + weight.narrow(0, first, count);
}

at::Tensor sinusoidal_positions(int64_t first, int64_t count, int64_t width,
                                const at::Device& device) {
  const int64_t pairs = (width + 1) / 2;
  const auto options = at::TensorOptions(device).dtype(at::kDouble);
  const auto rate = at::exp(at::arange(pairs, options) * (-2 * std::log(10000.0) / double(width)));
  const auto angle = at::outer(at::arange(first, first + count, options), rate);  // [count, pairs]
  return at::stack({angle.sin(), angle.cos()}, -1)
      .flatten(1)
      .narrow(1, 0, width)
      .to(at::kFloat);  // [count, width]
}

}  // namespace fovea
