#include "fovea/models/vision_transformer.h"

#include "fovea/export/exporters.h"
#include "fovea/export/image_encoder.h"
#include "fovea/export/transformer_layers.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

/// Stretched to height x width, as upsample_bilinear2d() does. x [B, C, …, …]
Value stretched(const Value& x, int64_t channels, int64_t height, int64_t width) {
  Graph& graph = x.graph();
  const Value sizes = join({size_of(x, 0), graph.integers({channels, height, width})}, 0);
  return graph.node("Resize", {x, {}, {}, sizes},
                    {{"mode", std::string("linear")},
                     {"coordinate_transformation_mode", std::string("half_pixel")}});
}

/// nn/vision/patch_embedding.h. x [B, C, H, W] -> [B, 1 + N, D]
Value embed_patches(const PatchEmbedding& patches, const Weights& weights, Value x,
                    const PictureInput& input) {
  Graph& graph = x.graph();
  const PatchEmbeddingOptions& o = patches.options();
  const int64_t height = o.rows * o.patch, width = o.columns * o.patch;
  if (input.height != height || input.width != width)
    x = stretched(x, input.channels, height, width);
  x = convolution_blocks(weights.under("stem"), x, o.blocks, 1);
  x = convolution(x, weights.value(graph, "weight"), weights.value(graph, "bias"),
                  patches.weight.size(2), 0);        // [B, D, rows, columns]
  x = transpose(reshape(x, {0, 0, -1}), {0, 2, 1});  // [B, N, D]
  const Value shape = join({size_of(x, 0), graph.integers({1, o.width})}, 0);
  const Value token = graph.node("Expand", {weights.value(graph, "class_token"), shape});
  return join({token, x}, 1) + weights.value(graph, "positions");
}

}  // namespace

static ExportedGraphs vision_transformer_graphs(const VisionTransformer& model,
                                                const ExportOptions& options) {
  const Weights weights(model);
  const PictureInput& input = model.input();
  auto graph = std::make_unique<Graph>("vision_transformer", "Classifies a picture by its patches");
  const auto& [mean, deviation] = model.normalisation();
  Value x = graph->input(image_port(input)) / 255;
  x = (x - graph->constant(mean)) / graph->constant(deviation);
  x = embed_patches(model.patches(), weights.under("patches"), x, input);
  const EncodedValues encoded = encode(weights.under("encoder"), x, {});
  output_probabilities(*graph, softmax(weights.linear("output", pick(encoded.output, 1, 0))),
                       input.classes, options);
  const int64_t tokens = 1 + input.cells();
  if (options.attention)
    put_out_weights(*graph, VisionTransformer::kMap, encoded.weights, tokens, tokens,
                    "how much the class token, then each patch, looked at each");
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_vision_transformer(const Model& model,
                                                        const ExportOptions& options) {
  return export_as<VisionTransformer>(model, options, vision_transformer_graphs);
}

}  // namespace fovea
