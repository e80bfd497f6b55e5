#include "fovea/nn/vision/residual_network.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kNormEpsilon = 1e-5;

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
  const Tensor between = first_norm(at::conv2d(x, first, {}, stride, 1)).relu();
  const Tensor beside = shortcut.defined() ? shortcut_norm(at::conv2d(x, shortcut, {}, stride)) : x;
  return (second_norm(at::conv2d(between, second, {}, 1, 1)) + beside).relu();
}

ResidualNetwork::Norm ResidualNetwork::make_norm(torch::nn::Module& owner, const std::string& name,
                                                 int64_t channels) {
  const auto own = owner.register_module(name, holder());
  return {own->register_parameter("weight", at::ones({channels})),
          own->register_parameter("bias", at::zeros({channels})),
          own->register_buffer("running_mean", at::zeros({channels})),
          own->register_buffer("running_var", at::ones({channels}))};
}

ResidualNetwork::Block ResidualNetwork::make_block(const std::string& name,
                                                   torch::nn::Module& layer, int64_t in,
                                                   int64_t out) {
  const auto own = layer.register_module(name, holder());
  Block block;
  block.stride = in == out ? 1 : 2;
  block.first = make_convolution(*own, "conv1", {out, in, 3, 3});
  block.first_norm = make_norm(*own, "bn1", out);
  block.second = make_convolution(*own, "conv2", {out, out, 3, 3});
  block.second_norm = make_norm(*own, "bn2", out);
  if (in != out) {
    const auto beside = own->register_module("downsample", holder());
    block.shortcut = make_convolution(*beside, "0", {out, in, 1, 1});
    block.shortcut_norm = make_norm(*beside, "1", out);
  }
  return block;
}

ResidualNetwork::ResidualNetwork(int64_t layers) : layers_(layers) {
  require(layers >= 1 && layers <= 4, ErrorKind::InvalidArgument,
          "resnet18 has 4 layers; model.encoder_layers=", layers, " cannot be");
  entry_ = make_convolution(*this, "conv1", {64, 3, 7, 7});
  entry_norm_ = make_norm(*this, "bn1", 64);
  int64_t in = 64;
  for (int64_t layer = 1; layer <= layers; ++layer) {
    const auto own = register_module(concat("layer", layer), holder());
    const int64_t out = int64_t{32} << layer;
    blocks_.push_back(make_block("0", *own, in, out));
    blocks_.push_back(make_block("1", *own, out, out));
    in = out;
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

Tensor ResidualNetwork::normalise(const Tensor& images) const {
  const Tensor x = images.to(entry_.scalar_type()) / 255;  // [B, 3, S, S]
  return (x - per_channel({0.485, 0.456, 0.406}, x)) / per_channel({0.229, 0.224, 0.225}, x);
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
