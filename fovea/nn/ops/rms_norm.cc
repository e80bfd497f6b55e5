#include "fovea/nn/ops/rms_norm.h"

#include "fovea/base/error.h"
#include "fovea/nn/ops/layer_norm.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

RmsNorm::RmsNorm(int64_t width, double epsilon) : epsilon_(epsilon) {
  require(width > 0, ErrorKind::InvalidArgument, "a norm over ", width,
          " numbers cannot be made; the width must be positive");
  weight = register_parameter("weight", at::ones({width}));
}

void RmsNorm::initialise() {
  torch::NoGradGuard no_gradients;
  weight.fill_(1);
}

Tensor RmsNorm::forward(const Tensor& x) const {
  require(x.dim() > 0 && x.size(-1) == weight.size(0), ErrorKind::InvalidArgument, "a norm over ",
          weight.size(0), " numbers was given a tensor of shape ", x.sizes());
  const Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const Tensor scale = (wide.square().mean(-1, /*keepdim=*/true) + epsilon_).rsqrt();  // [..., 1]
  return (wide * scale * weight).to(x.scalar_type());
}

AddedNorm RmsNorm::add(const Tensor& residual, const Tensor& x, double rate, const Random* random,
                       bool /*is_residual*/) const {
  const Tensor sum = add_dropped(residual, x, rate, random);
  return {sum, forward(sum)};
}

std::shared_ptr<Norm> make_norm(const std::string& name, int64_t width, double epsilon) {
  if (name == "rms") return std::make_shared<RmsNorm>(width, epsilon);
  require(name == "layer", ErrorKind::InvalidArgument, "there is no norm '", name,
          "'; known: layer, rms");
  return std::make_shared<LayerNorm>(width, epsilon);
}

}  // namespace fovea
