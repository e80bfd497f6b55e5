#include "fovea/export/image_encoder.h"

#include "fovea/export/operators.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

Port image_port(const PictureInput& input) {
  return {"image",
          ElementType::Float,
          {"batch", input.channels, input.height, input.width},
          input.channels == 1 ? "grey, 0 to 255" : "red, green and blue, each 0 to 255"};
}

Value convolution_blocks(const Weights& weights, Value x, int64_t blocks, int64_t convolutions) {
  Graph& graph = x.graph();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t i = 0; i < convolutions; ++i) {
      const std::string name = concat("block", block, "_", i);
      x = convolution(x, weights.value(graph, name + "_weight"),
                      weights.value(graph, name + "_bias"), 1, 1);
      const Value by_place = transpose(x, {0, 2, 3, 1});  // [B, s, s, C]
      x = relu(transpose(weights.layer_norm(name + "_norm", by_place), {0, 3, 1, 2}));
    }
    x = max_pool(x, 2, 2, 0);
  }
  return x;
}

namespace {

Value batch_norm(const Weights& weights, const std::string& name, const Value& x) {
  Graph& graph = x.graph();
  const auto of = [&](const char* part) { return weights.value(graph, name + part); };
  return graph.node("BatchNormalization",
                    {x, of(".weight"), of(".bias"), of(".running_mean"), of(".running_var")},
                    {{"epsilon", 1e-5f}});
}

Value residual_block(const Weights& block, const Value& x, int64_t stride) {
  Graph& graph = x.graph();
  const auto convolved = [&](const std::string& name, const Value& of, int64_t by) {
    const int64_t padding = block.tensor(name).size(2) / 2;
    return convolution(of, block.value(graph, name), by, padding);
  };
  const int64_t last = block.has("conv3.weight") ? 3 : 2;  // three: a bottleneck
  Value y = x;
  for (int64_t i = 1; i <= last; ++i) {
    const bool strides = i == last - 1;
    y = batch_norm(block, concat("bn", i),
                   convolved(concat("conv", i, ".weight"), y, strides ? stride : 1));
    if (i < last) y = relu(y);
  }
  const Value beside =
      block.has("downsample.0.weight")
          ? batch_norm(block, "downsample.1", convolved("downsample.0.weight", x, stride))
          : x;
  return relu(y + beside);
}

/// As ImageNet's networks expect it. x [B, 3, S, S], 0 to 255
Value imagenet_normalised(const Value& x) {
  const auto per_channel = [&](const std::vector<float>& values) {
    return x.graph().constant(torch::tensor(values).view({1, 3, 1, 1}));
  };
  return (x / 255 - per_channel({0.485f, 0.456f, 0.406f})) / per_channel({0.229f, 0.224f, 0.225f});
}

Value vgg_network(const Weights& weights, Value x) {
  Graph& graph = x.graph();
  x = imagenet_normalised(x);
  for (int64_t number = 0; weights.has_module(concat("features.", number)); ++number) {
    for (; weights.has_module(concat("features.", number)); number += 2) {
      const std::string name = concat("features.", number);
      x = relu(convolution(x, weights.value(graph, name + ".weight"),
                           weights.value(graph, name + ".bias"), 1, 1));
    }
    if (weights.has_module(concat("features.", number + 1))) x = max_pool(x, 2, 2, 0);
  }
  return x;
}

Value residual_network(const ImageEncoderOptions& options, const Weights& weights, Value x) {
  Graph& graph = x.graph();
  x = imagenet_normalised(x);
  x = relu(batch_norm(weights, "bn1", convolution(x, weights.value(graph, "conv1.weight"), 2, 3)));
  x = max_pool(x, 3, 2, 1);
  for (int64_t layer = 1; layer <= options.encoder_layers; ++layer)
    for (int64_t block = 0; weights.has_module(concat("layer", layer, ".", block)); ++block)
      x = residual_block(weights.under(concat("layer", layer, ".", block)), x,
                         layer > 1 && block == 0 ? 2 : 1);
  return x;
}

}  // namespace

Value encode_images(const ImageEncoderOptions& options, const Weights& weights,
                    const Value& images) {
  const Value cells = options.name == "small" ? convolution_blocks(weights, (images - 127.5) / 64,
                                                                   int64_t(options.channels.size()),
                                                                   options.convolutions)
                      : weights.has_module("features") ? vgg_network(weights, images)
                                                       : residual_network(options, weights, images);
  return transpose(reshape(cells, {0, 0, -1}), {0, 2, 1});  // [B, cells, D]
}

}  // namespace fovea::onnx
