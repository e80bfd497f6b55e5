#include "fovea/export/sequence.h"

#include "fovea/base/text.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using onnx::ElementType;
using onnx::Port;

namespace {

void note_symbols(const SequenceShape& shape, onnx::Graph& graph) {
  const bool reads_text = shape.source_symbols > 0, writes_text = shape.target_symbols > 0;
  if (reads_text) graph.note("fovea.padding", concat(shape.padding));
  if (writes_text) graph.note("fovea.begin", concat(shape.begin));
  if (writes_text) graph.note("fovea.end", concat(shape.end));
  if (!writes_text) graph.note("fovea.horizon", concat(shape.horizon));
}

}  // namespace

Port previous(Port port) {
  port.name = "previous_" + port.name;
  return port;
}

Port source_port() {
  return {"source",
          ElementType::Int64,
          {"batch", "source_length"},
          "numbers of symbols, padding at the end"};
}

Port memory_keep_port() {
  return {"memory_keep",
          ElementType::Bool,
          {"batch", "source_length"},
          "false where the source is padding"};
}

Port token_port() {
  return {"token", ElementType::Int64, {"batch"}, "the symbol that was chosen"};
}

Port steps_port() {
  return {"steps", ElementType::Int64, {1}, "steps made so far"};
}

Port log_probabilities_port(int64_t symbols) {
  return {
      "log_probabilities", ElementType::Float, {"batch", symbols}, "of each symbol to come next"};
}

onnx::Value first_tokens(const onnx::Value& batch, int64_t begin) {
  onnx::Graph& graph = batch.graph();
  return graph.node("Expand", {graph.integers({begin}), batch});
}

onnx::Value target_table(const SequenceShape& shape, const onnx::Weights& weights,
                         onnx::Graph& graph) {
  return weights.value(
      graph, shape.shared_vocabulary ? "source_embedding.weight" : "target_embedding.weight");
}

ExportedGraphs encoder_and_decoder(const SequenceShape& shape, std::unique_ptr<onnx::Graph> encoder,
                                   std::unique_ptr<onnx::Graph> decoder) {
  for (onnx::Graph* graph : {encoder.get(), decoder.get()}) note_symbols(shape, *graph);
  ExportedGraphs graphs;
  graphs.push_back({"encoder", std::move(encoder)});
  graphs.push_back({"decoder", std::move(decoder)});
  return graphs;
}

}  // namespace fovea
