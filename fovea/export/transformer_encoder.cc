#include "fovea/export/positions.h"
#include "fovea/export/transformer_plan.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

/// What layer `i` of the decoder will look at. encoded [B, S, D]
void put_out_layer_memory(const TransformerPlan& plan, size_t i, const Value& encoded) {
  const MemoryPorts& ports = plan.layers[i].source;
  if (!ports.exist()) return;
  const Weights layer = layers_of(plan.weights.under("decoder"))[i];
  const HeadMemory memory = MultiHead(layer, "multihead_attn").remember(encoded);
  encoded.graph().output(ports.keys, memory.keys);
  encoded.graph().output(ports.values, memory.values);
}

/// Nothing is written yet: length 0. batch int64 [1]
void put_out_nothing(const MemoryPorts& ports, const Value& batch) {
  if (!ports.exist()) return;
  Graph& graph = batch.graph();
  const Value sizes = graph.integers({ports.heads, 0, ports.head_size});
  const Value empty = filled(join({batch, sizes}, 0), 0);  // [B, h, 0, d]
  graph.output(ports.keys, empty);
  graph.output(ports.values, empty);
}

}  // namespace

std::unique_ptr<Graph> transformer_encoder(const TransformerPlan& plan, bool with_attention) {
  auto graph = std::make_unique<Graph>("transformer_encoder",
                                       "Reads the source once; gives what the first step needs");
  const Value source = graph->input(source_port());                    // [B, S]
  const Value keep = ~(source == graph->integer(plan.shape.padding));  // [B, S]
  const Value x = plan.embed("source", source, positions_of(source));  // [B, S, D]
  const EncodedValues encoded = encode(plan.weights.under("encoder"), x, keep);

  const Value batch = size_of(source, 0);
  graph->output(token_port(), first_tokens(batch, plan.shape.begin));
  graph->output(steps_port(), graph->integers({0}));
  graph->output(memory_keep_port(), keep);
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    put_out_layer_memory(plan, i, encoded.output);
    put_out_nothing(plan.layers[i].written, batch);
  }
  if (with_attention)
    put_out_weights(*graph, "encoder_attention", encoded.weights, "source_length", "source_length",
                    "how much each source position looked at each");
  return graph;
}

}  // namespace fovea
