#include "fovea/models/feature_attention.h"
#include "fovea/base/text.h"
#include "fovea/export/attention.h"
#include "fovea/export/exporters.h"
#include "fovea/export/weights.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using kernels::TabularLoss;

static ExportedGraphs feature_attention_graphs(const FeatureAttention& model,
                                               const ExportOptions& options) {
  using namespace onnx;
  const Weights parameters(model);
  const FeatureShape& shape = model.shape();
  const auto columns = int64_t(shape.columns.size()), width = int64_t(shape.column_of_input.size());
  auto graph = std::make_unique<Graph>("feature_attention", "A column of a table from the others");
  const Value inputs =
      graph->input({"inputs", ElementType::Float, {"batch", width}, "the encoded cells of a row"});

  Value h = inputs, weights;  // [B, I], [B, C]
  if (model.options().has_attention()) {
    weights = normalise(model.options().normaliser, parameters.linear("attention", inputs), {});
    const Value column = graph->integers(shape.column_of_input);  // [I]
    h = inputs * graph->node("Gather", {weights, column}, {{"axis", int64_t(1)}});
  }
  for (int64_t layer = 0; parameters.has(concat("hidden.", layer, ".weight")); ++layer)
    h = relu(parameters.linear(concat("hidden.", layer), h));  // [B, width]
  const Value result = parameters.linear("output", h);         // [B, O]

  if (shape.loss == TabularLoss::SquaredError) {
    graph->output({"value", ElementType::Float, {"batch", 1}, "the prediction, encoded"}, result);
  } else {
    const bool two = shape.loss == TabularLoss::BinaryCrossEntropy;
    output_probabilities(*graph,
                         two ? join({sigmoid(-result), sigmoid(result)}, 1) : softmax(result),
                         two ? 2 : shape.outputs, options);
  }
  if (options.attention && weights.defined())
    graph->output({"attention", ElementType::Float, {"batch", columns}, "weight of each column"},
                  weights);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_feature_attention(const Model& model,
                                                       const ExportOptions& options) {
  return export_as<FeatureAttention>(model, options, feature_attention_graphs);
}

}  // namespace fovea
