#include "fovea/nn/vision/residual_network.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kNormEpsilon = 1e-5;
constexpr int64_t kExpansion = 4;  // of a bottleneck

/// A module that only holds others, or one tensor, under a name.
std::shared_ptr<torch::nn::Module> holder() {
  return std::make_shared<torch::nn::Module>();
}

Tensor make_convolution(torch::nn::Module& owner, const std::string& name, at::IntArrayRef sizes) {
  const auto own = owner.register_module(name, holder());
  return own->register_parameter("weight", at::zeros(sizes));
}

Tensor per_channel(const std::vector<double>& values, const Tensor& like) {
  return torch::tensor(values, at::kDouble)
      .to(like.device(), like.scalar_type())
      .view({1, 3, 1, 1});
}

}  // namespace

Tensor he_normal(at::IntArrayRef sizes, const Random& random) {
  const double fan_in = double(sizes[1] * sizes[2] * sizes[3]);
  return random.normal_tensor(sizes, 0, std::sqrt(2 / fan_in), at::kFloat);
}

Tensor ResidualNetwork::Norm::operator()(const Tensor& x) const {
  return at::batch_norm(x, weight, bias, mean, variance, /*training=*/false, 0, kNormEpsilon,
                        /*cudnn_enabled=*/true);
}

Tensor ResidualNetwork::Block::operator()(const Tensor& x) const {
  const bool bottleneck = convolutions.size() == 3;
  Tensor y = x;
  for (size_t i = 0; i < convolutions.size(); ++i) {
    const int64_t size = convolutions[i].size(2);  // 1 or 3
    const bool strides = i == (bottleneck ? 1u : 0u);
    y = norms[i](at::conv2d(y, convolutions[i], {}, strides ? stride : 1, size / 2));
    if (i + 1 < convolutions.size()) y = y.relu();
  }
  const Tensor beside = shortcut.defined() ? shortcut_norm(at::conv2d(x, shortcut, {}, stride)) : x;
  return (y + beside).relu();
}

ResidualNetwork::Norm ResidualNetwork::make_norm(torch::nn::Module& owner, const std::string& name,
                                                 int64_t channels) {
  const auto own = owner.register_module(name, holder());
  return {own->register_parameter("weight", at::ones({channels})),
          own->register_parameter("bias", at::zeros({channels})),
          own->register_buffer("running_mean", at::zeros({channels})),
          own->register_buffer("running_var", at::ones({channels}))};
}

ResidualNetwork::Block ResidualNetwork::make_block(torch::nn::Module& own, int64_t in,
                                                   int64_t width, int64_t stride, bool bottleneck) {
  Block block;
  block.stride = stride;
  const auto add = [&](int64_t from, int64_t to, int64_t size) {
    const size_t number = block.convolutions.size() + 1;
    block.convolutions.push_back(
        make_convolution(own, concat("conv", number), {to, from, size, size}));
    block.norms.push_back(make_norm(own, concat("bn", number), to));
  };
  const int64_t out = bottleneck ? kExpansion * width : width;
  if (bottleneck) {
    add(in, width, 1);
    add(width, width, 3);
    add(width, out, 1);
  } else {
    add(in, width, 3);
    add(width, width, 3);
  }
  if (in != out || stride != 1) {
    const auto beside = own.register_module("downsample", holder());
    block.shortcut = make_convolution(*beside, "0", {out, in, 1, 1});
    block.shortcut_norm = make_norm(*beside, "1", out);
  }
  return block;
}

std::span<const ResidualShape> residual_shapes() {
  static constexpr ResidualShape kShapes[] = {{"resnet18", {2, 2, 2, 2}, false},
                                              {"resnet34", {3, 4, 6, 3}, false},
                                              {"resnet50", {3, 4, 6, 3}, true},
                                              {"resnet101", {3, 4, 23, 3}, true},
                                              {"resnet152", {3, 8, 36, 3}, true}};
  return kShapes;
}

ResidualNetwork::ResidualNetwork(int64_t layers, const std::string& name) : layers_(layers) {
  const auto shapes = residual_shapes();
  const auto shape =
      std::ranges::find_if(shapes, [&](const ResidualShape& one) { return one.name == name; });
  require(shape != shapes.end(), ErrorKind::InvalidArgument, "there is no ", name);
  require(layers >= 1 && layers <= 4, ErrorKind::InvalidArgument, name,
          " has 4 layers; model.encoder_layers=", layers, " cannot be");
  entry_ = make_convolution(*this, "conv1", {64, 3, 7, 7});
  entry_norm_ = make_norm(*this, "bn1", 64);
  features_ = 64;
  for (int64_t layer = 1; layer <= layers; ++layer) {
    const auto own = register_module(concat("layer", layer), holder());
    const int64_t width = int64_t{32} << layer;
    for (int64_t i = 0; i < shape->blocks[size_t(layer - 1)]; ++i) {
      const auto part = own->register_module(concat(i), holder());
      const int64_t stride = layer > 1 && i == 0 ? 2 : 1;
      blocks_.push_back(make_block(*part, features_, width, stride, shape->bottleneck));
      features_ = shape->bottleneck ? kExpansion * width : width;
    }
  }
}

void ResidualNetwork::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  for (auto& item : named_parameters()) {
    Tensor& own = item.value();
    if (own.dim() == 4)
      own.copy_(he_normal(own.sizes(), random.split(item.key())));
    else
      own.fill_(item.key().ends_with("weight") ? 1 : 0);
  }
  for (auto& item : named_buffers()) item.value().fill_(item.key().ends_with("var") ? 1 : 0);
}

Tensor imagenet_normalised(const Tensor& images, at::ScalarType type) {
  const Tensor x = images.to(type) / 255;  // [B, 3, S, S]
  return (x - per_channel({0.485, 0.456, 0.406}, x)) / per_channel({0.229, 0.224, 0.225}, x);
}

Tensor ResidualNetwork::normalise(const Tensor& images) const {
  return imagenet_normalised(images, entry_.scalar_type());
}

Tensor ResidualNetwork::forward(const Tensor& normalised) const {
  Tensor x = entry_norm_(at::conv2d(normalised, entry_, {}, 2, 3)).relu();  // [B, 64, S / 2, S / 2]
  x = at::max_pool2d(x, 3, 2, 1);                                           // [B, 64, S / 4, S / 4]
  for (const Block& block : blocks_) x = block(x);
  return x;
}

bool ResidualNetwork::may_leave_out(const std::string& name) const {
  const bool is_later =
      name.starts_with("layer") && name.size() > 5 && name[5] - '0' > layers_ && name[5] <= '4';
  return is_later || name.starts_with("fc.") || name.ends_with("num_batches_tracked");
}

}  // namespace fovea
