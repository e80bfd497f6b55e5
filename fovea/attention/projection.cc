#include "fovea/attention/projection.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

thread_local bool weights_come_later = false;

}  // namespace

WeightsLater::WeightsLater() : before_(weights_come_later) {
  weights_come_later = true;
}
WeightsLater::~WeightsLater() {
  weights_come_later = before_;
}

at::Tensor undecided_weight(at::IntArrayRef shape) {
  return weights_come_later ? at::zeros({1}).expand(shape) : at::zeros(shape);
}

Projection::Projection(const ProjectionOptions& options) {
  require(options.in > 0 && options.out > 0, ErrorKind::InvalidArgument, "a projection from ",
          options.in, " to ", options.out, " numbers cannot be made; both sizes must be positive");
  weight = register_parameter("weight", undecided_weight({options.out, options.in}));
  if (options.bias) bias = register_parameter("bias", at::zeros({options.out}));
}

Projection::Projection(const ProjectionOptions& options, const Random& random)
    : Projection(options) {
  initialise(random);
}

void Projection::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  weight.copy_(glorot_uniform(weight.size(0), weight.size(1), random.split("weight")));
  if (bias.defined()) bias.zero_();
}

at::Tensor Projection::forward(const at::Tensor& x, const Random* random) const {
  require(x.size(-1) == weight.size(1), ErrorKind::InvalidArgument, "a projection of ",
          weight.size(1), " numbers was given a tensor of shape ", x.sizes());
  return adapters.add_to(linear_layer(x, weight, bias), x, 0, random);  // [..., out]
}

std::shared_ptr<Projection> register_projection(torch::nn::Module& owner, const std::string& name,
                                                const ProjectionOptions& options) {
  return owner.register_module(name, std::make_shared<Projection>(options));
}

std::shared_ptr<Projection> register_projection(torch::nn::Module& owner, const std::string& name,
                                                const ProjectionOptions& options,
                                                const Random& random) {
  return owner.register_module(name, std::make_shared<Projection>(options, random.split(name)));
}

at::Tensor glorot_uniform(int64_t out, int64_t in, const Random& random) {
  const double limit = std::sqrt(6.0 / static_cast<double>(in + out));
  return random.uniform_tensor({out, in}, -limit, limit, at::TensorOptions(at::kFloat));
}

}  // namespace fovea
