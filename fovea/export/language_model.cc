#include "fovea/models/language_model.h"

#include "fovea/base/error.h"
#include "fovea/export/exporters.h"
#include "fovea/export/positions.h"
#include "fovea/export/transformer_layers.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

constexpr int64_t kMostBytes = 2'000'000'000;  // of one file: protobuf's limit is 2 GiB

/// Weights with their adapters in them, in float32.
std::map<std::string, at::Tensor> plain_weights(const LanguageModel& model) {
  int64_t bytes = 0;
  for (const at::Tensor& parameter : model.parameters()) bytes += 4 * parameter.numel();
  require(bytes <= kMostBytes, ErrorKind::Unsupported, "export: the weights take ", bytes,
          " bytes in float32, more than the 2 GB that one ONNX file holds");
  std::map<std::string, at::Tensor> plain;
  for (const auto& item : model.named_parameters())
    plain[item.key()] = model.merged_weight(item.key()).to(at::kFloat);
  return plain;
}

/// "past_key_values.0.key", [batch, heads, length, head size], as optimum names them.
Port memory_port(const std::string& what, size_t layer, const char* part, const MultiHead& block,
                 const char* length) {
  return {
      concat(what, ".", layer, ".", part),
      ElementType::Float,
      {"batch", block.key_heads(), length, block.head_size()},
      concat(part, "s of layer ", layer + 1, ", ",
             what == "present" ? "these tokens included" : "of the tokens before; none at first")};
}

}  // namespace

static ExportedGraphs language_model_graphs(const LanguageModel& model,
                                            const ExportOptions& options) {
  const Weights weights(model, plain_weights(model));
  const Weights decoder = weights.under("decoder");
  auto graph = std::make_unique<Graph>(
      "language_model", "What comes after each token: a prompt, or the next token alone");
  const Value ids = graph->input({"input_ids",
                                  ElementType::Int64,
                                  {"batch", "sequence_length"},
                                  "tokens, which follow those of the past"});
  std::vector<HeadMemory> past;
  std::vector<MultiHead> blocks;
  for (const Weights& layer : layers_of(decoder)) {
    const MultiHead& block = blocks.emplace_back(layer, "self_attn");
    HeadMemory& memory = past.emplace_back();
    if (block.heads() == 0) continue;
    const size_t i = past.size() - 1;
    const auto port = [&](const char* part) {
      return memory_port("past_key_values", i, part, block, "past_sequence_length");
    };
    memory.keys = graph->input(port("key"));
    memory.values = graph->input(port("value"));
  }
  const auto seen = std::find_if(past.begin(), past.end(),
                                 [](const HeadMemory& memory) { return memory.keys.defined(); });
  const Value first =
      seen == past.end() ? graph->integers({0}) : size_of(seen->keys, 2);  // tokens of the past
  const Value table = weights.value(*graph, "tokens.weight");
  Value x = rows_of(table, ids);  // [B, N, D]
  if (weights.has("positions.weight"))
    x = add_learned(x, positions_of(x, first), weights.value(*graph, "positions.weight"));
  const ContinuedValues continued = go_on(decoder, x, first, past);
  const Value output =
      weights.has("output_weight") ? weights.value(*graph, "output_weight") : table;
  graph->output({"logits",
                 ElementType::Float,
                 {"batch", "sequence_length", model.shape().vocabulary},
                 "of the token after each"},
                linear(continued.output, output));
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].heads() == 0) continue;
    const auto port = [&](const char* part) {
      return memory_port("present", i, part, blocks[i], "total_sequence_length");
    };
    graph->output(port("key"), continued.memories[i].keys);
    graph->output(port("value"), continued.memories[i].values);
  }
  if (options.attention)
    put_out_weights(*graph, "attention", continued.weights, "sequence_length",
                    "total_sequence_length", "how much each token looked at each before it");
  graph->note("fovea.positions", concat(model.options().maximum_length));
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_language_model(const Model& model,
                                                    const ExportOptions& options) {
  return export_as<LanguageModel>(model, options, language_model_graphs);
}

}  // namespace fovea
