#include "fovea/export/image_encoder.h"

#include "fovea/export/operators.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

Value small_network(const ImageEncoderOptions& options, const Weights& weights, Value x) {
  Graph& graph = x.graph();
  x = (x - 127.5) / 64;
  for (size_t block = 0; block < options.channels.size(); ++block) {
    for (int64_t i = 0; i < options.convolutions; ++i) {
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

Value batch_norm(const Weights& weights, const std::string& name, const Value& x) {
  Graph& graph = x.graph();
  const auto of = [&](const char* part) { return weights.value(graph, name + part); };
  return graph.node("BatchNormalization",
                    {x, of(".weight"), of(".bias"), of(".running_mean"), of(".running_var")},
                    {{"epsilon", 1e-5f}});
}

Value residual_block(const Weights& block, const Value& x) {
  Graph& graph = x.graph();
  const bool changes = block.has("downsample.0.weight");
  const int64_t stride = changes ? 2 : 1;
  const auto convolved = [&](const char* name, const Value& of, int64_t by, int64_t padding) {
    return convolution(of, block.value(graph, name), by, padding);
  };
  const Value between = relu(batch_norm(block, "bn1", convolved("conv1.weight", x, stride, 1)));
  const Value beside =
      changes ? batch_norm(block, "downsample.1", convolved("downsample.0.weight", x, stride, 0))
              : x;
  return relu(batch_norm(block, "bn2", convolved("conv2.weight", between, 1, 1)) + beside);
}

Value residual_network(const ImageEncoderOptions& options, const Weights& weights, Value x) {
  Graph& graph = x.graph();
  const auto per_channel = [&](const std::vector<float>& values) {
    return graph.constant(torch::tensor(values).view({1, 3, 1, 1}));
  };
  x = (x / 255 - per_channel({0.485f, 0.456f, 0.406f})) / per_channel({0.229f, 0.224f, 0.225f});
  x = relu(batch_norm(weights, "bn1", convolution(x, weights.value(graph, "conv1.weight"), 2, 3)));
  x = max_pool(x, 3, 2, 1);
  for (int64_t layer = 1; layer <= options.encoder_layers; ++layer)
    for (const int block : {0, 1})
      x = residual_block(weights.under(concat("layer", layer, ".", block)), x);
  return x;
}

}  // namespace

Value encode_images(const ImageEncoderOptions& options, const Weights& weights,
                    const Value& images) {
  const Value cells = options.name == "small" ? small_network(options, weights, images)
                                              : residual_network(options, weights, images);
  return transpose(reshape(cells, {0, 0, -1}), {0, 2, 1});  // [B, cells, D]
}

}  // namespace fovea::onnx
