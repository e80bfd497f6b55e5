#include "fovea/nn/vision/vgg_network.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/nn/vision/residual_network.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

std::span<const VggShape> vgg_shapes() {
  static constexpr VggShape kShapes[] = {{"vgg16", {2, 2, 3, 3, 3}}, {"vgg19", {2, 2, 4, 4, 4}}};
  return kShapes;
}

VggNetwork::VggNetwork(int64_t blocks, const std::string& name) : blocks_(blocks) {
  constexpr int64_t kWidths[] = {64, 128, 256, 512, 512};
  const auto shapes = vgg_shapes();
  const auto shape =
      std::ranges::find_if(shapes, [&](const VggShape& one) { return one.name == name; });
  require(shape != shapes.end(), ErrorKind::InvalidArgument, "there is no ", name);
  require(blocks >= 1 && blocks <= 5, ErrorKind::InvalidArgument, name,
          " has 5 blocks; model.encoder_layers=", blocks, " cannot be");
  const auto all = register_module("features", std::make_shared<torch::nn::Module>());
  int64_t in = 3, number = 0;  // of the next part: a convolution and its ReLU, or a pooling
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t out = kWidths[block];
    for (int64_t i = 0; i < shape->convolutions[size_t(block)]; ++i) {
      const auto own = all->register_module(concat(number), std::make_shared<torch::nn::Module>());
      weights_.push_back(own->register_parameter("weight", at::zeros({out, in, 3, 3})));
      biases_.push_back(own->register_parameter("bias", at::zeros({out})));
      begins_block_.push_back(i == 0);
      last_ = number;
      number += 2;
      in = out;
    }
    ++number;
  }
}

void VggNetwork::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  for (size_t i = 0; i < weights_.size(); ++i) {
    weights_[i].copy_(he_normal(weights_[i].sizes(), random.split(i)));
    biases_[i].zero_();
  }
}

Tensor VggNetwork::normalise(const Tensor& images) const {
  return imagenet_normalised(images, weights_[0].scalar_type());
}

Tensor VggNetwork::forward(const Tensor& normalised) const {
  Tensor x = normalised;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (i > 0 && begins_block_[i]) x = at::max_pool2d(x, 2);
    x = at::conv2d(x, weights_[i], biases_[i], 1, 1).relu();
  }
  return x;
}

bool VggNetwork::may_leave_out(const std::string& name) const {
  if (name.starts_with("classifier.")) return true;
  const std::vector<std::string> parts = split(name, '.');
  int64_t number = 0;
  return parts.size() == 3 && parts[0] == "features" && parse_integer(parts[1], number) &&
         number > last_;
}

}  // namespace fovea
