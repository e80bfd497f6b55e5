#include "fovea/models/context_attention.h"
#include "fovea/export/exporters.h"
#include "fovea/export/weights.h"
#include "fovea/tensor/torch.h"

namespace fovea {

static ExportedGraphs context_attention_graphs(const ContextAttention& model,
                                               const ExportOptions& options) {
  using namespace onnx;
  const Weights parameters(model);
  const int64_t positions = parameters.tensor("attention.weight").size(1);
  auto graph = std::make_unique<Graph>("context_attention",
                                       "A context picks the position of the input that matters");
  const Shape by_position{"batch", positions};
  const Value inputs =
      graph->input({"inputs", ElementType::Float, by_position, "one number per position, encoded"});
  const Value context =
      graph->input({"context", ElementType::Int64, {"batch"}, "number of the context, from 0"});

  const bool free = model.options().is_free();
  Value weights = rows_of(parameters.value(*graph, "attention.weight"), context);  // [B, P]
  if (!free) weights = softmax(weights);
  const Value glimpse = inputs * weights;  // [B, P]
  const Value value =
      free ? parameters.linear("output", glimpse) : sum(glimpse, 1, true);  // [B, 1]

  graph->output({"value", ElementType::Float, {"batch", 1}, "the prediction, encoded"}, value);
  if (options.attention) {
    graph->output({"attention", ElementType::Float, by_position,
                   free ? "weight of each position, of any sign" : "weights that sum to 1"},
                  weights);
    if (free)
      graph->output({"effective", ElementType::Float, by_position,
                     "what each position is multiplied with: attention times output weight"},
                    weights * parameters.value(*graph, "output.weight"));
  }
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_context_attention(const Model& model,
                                                       const ExportOptions& options) {
  return export_as<ContextAttention>(model, options, context_attention_graphs);
}

}  // namespace fovea
