#include <cmath>

#include "fovea/base/text.h"
#include "fovea/export/exporters.h"
#include "fovea/export/positions.h"
#include "fovea/export/transformer_plan.h"
#include "fovea/models/transformer.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using onnx::ElementType;

MemoryPorts::MemoryPorts(const std::string& name, int64_t layer, const onnx::MultiHead& block,
                         const char* length, const std::string& help)
    : heads(block.key_heads()), head_size(block.head_size()) {
  const auto port = [&](const char* kind) -> onnx::Port {
    return {concat(name, "_", kind, "_", layer),
            ElementType::Float,
            {"batch", heads, length, head_size},
            concat(kind, " of ", help, ", for layer ", layer)};
  };
  keys = port("keys");
  values = port("values");
}

TransformerPlan::TransformerPlan(const Transformer& model)
    : options(model.options()), shape(model.shape()), weights(model) {
  for (const onnx::Weights& layer : layers_of(weights.under("decoder"))) {
    const auto number = int64_t(layers.size()) + 1;
    layers.push_back({{"memory", number, onnx::MultiHead(layer, "multihead_attn"), "source_length",
                       "the source"},
                      {"written", number, onnx::MultiHead(layer, "self_attn"), "written_length",
                       "what is written"}});
  }
}

onnx::Value TransformerPlan::embed(const std::string& side, const onnx::Value& symbols,
                                   const onnx::Value& positions) const {
  onnx::Graph& graph = symbols.graph();
  const onnx::Value table = side == "target" ? target_table(shape, weights, graph)
                                             : weights.value(graph, "source_embedding.weight");
  const onnx::Value x = rows_of(table, symbols) * std::sqrt(double(options.hidden));  // [B, N, D]
  if (options.positions == "sinusoidal") return add_sinusoidal(x, positions, options.hidden);
  if (options.positions == "learned")
    return add_learned(x, positions, weights.value(graph, side + "_positions.weight"));
  return x;  // the others belong to the scores
}

static ExportedGraphs transformer_graphs(const Transformer& model, const ExportOptions& options) {
  const TransformerPlan plan(model);
  return encoder_and_decoder(plan.shape, transformer_encoder(plan, options.attention),
                             transformer_decoder(plan, options.attention));
}

std::optional<ExportedGraphs> export_transformer(const Model& model, const ExportOptions& options) {
  return export_as<Transformer>(model, options, transformer_graphs);
}

}  // namespace fovea
