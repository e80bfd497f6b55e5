#include "fovea/models/__name__.h"

#include "fovea/export/exporters.h"
#include "fovea/export/weights.h"
#include "fovea/tensor/torch.h"

namespace fovea {

static ExportedGraphs __name___graphs(const __Name__& model, const ExportOptions& options) {
  using namespace onnx;
  const Weights parameters(model);
  const std::vector<int64_t>& column_of_input = model.shape().column_of_input;
  auto graph = std::make_unique<Graph>("__name__", "One learned weight for each column of a table");
  const Value inputs = graph->input({"inputs",
                                     ElementType::Float,
                                     {"batch", int64_t(column_of_input.size())},
                                     "one number per input, encoded"});
  const Value weights = softmax(parameters.value(*graph, "logits"));                 // [C]
  const Value by_input = rows_of(weights, graph->integers(column_of_input));         // [I]
  const Value outputs = parameters.linear("output", inputs * by_input);              // [B, O]
  graph->output({"outputs", ElementType::Float, {"batch", model.shape().outputs}, "logits, or the value"},
                outputs);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export___name__(const Model& model, const ExportOptions& options) {
  return export_as<__Name__>(model, options, __name___graphs);
}

}  // namespace fovea
