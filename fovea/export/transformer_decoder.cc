#include "fovea/export/transformer_plan.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

HeadMemory read_memory(Graph& graph, const Port& keys, const Port& values) {
  const Value read = graph.input(keys);
  return {read, graph.input(values)};
}

std::vector<DecoderMemory> read_memories(const TransformerPlan& plan, Graph& graph) {
  std::vector<DecoderMemory> memories;
  for (const auto& [source, written] : plan.layers) {
    DecoderMemory& memory = memories.emplace_back();
    if (written.exist())
      memory.written = read_memory(graph, previous(written.keys), previous(written.values));
    if (source.exist()) memory.source = read_memory(graph, source.keys, source.values);
  }
  return memories;
}

/// x [B, D] -> [B, V]
Value output_of(const TransformerPlan& plan, const Value& x) {
  Graph& graph = x.graph();
  const Value weight = plan.options.tie_embeddings ? target_table(plan.shape, plan.weights, graph)
                                                   : plan.weights.value(graph, "output_weight");
  return linear(x, weight, plan.weights.value(graph, "output_bias"));
}

}  // namespace

std::unique_ptr<Graph> transformer_decoder(const TransformerPlan& plan, bool with_attention) {
  auto graph = std::make_unique<Graph>("transformer_decoder", "One step of the decoder");
  const Value token = graph->input(previous(token_port()));  // [B]
  const Value steps = graph->input(previous(steps_port()));  // [1]
  const Value keep = graph->input(memory_keep_port());       // [B, S]
  const std::vector<DecoderMemory> memories = read_memories(plan, *graph);
  const Value x = plan.embed("target", unsqueeze(token, {1}), steps);  // [B, 1, D]
  const SteppedValues stepped = step(plan.weights.under("decoder"), x, steps, memories, keep);

  graph->output(log_probabilities_port(plan.shape.target_symbols),
                log_softmax(output_of(plan, squeeze(stepped.output, {1}))));
  graph->output(steps_port(), steps + graph->integers({1}));
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    const MemoryPorts& ports = plan.layers[i].written;
    if (!ports.exist()) continue;
    graph->output(ports.keys, stepped.written[i].written.keys);
    graph->output(ports.values, stepped.written[i].written.values);
  }
  if (!with_attention) return graph;
  put_out_weights(*graph, "decoder_attention", stepped.generated_weights, 1, "written_length",
                  "how much the step looked at each symbol that is written, itself the last");
  put_out_weights(*graph, "attention", stepped.source_weights, 1, "source_length",
                  "how much the step looked at each source position");
  return graph;
}

}  // namespace fovea
