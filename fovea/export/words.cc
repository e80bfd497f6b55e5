#include "fovea/models/words.h"
#include "fovea/export/exporters.h"
#include "fovea/export/operators.h"
#include "fovea/export/weights.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

static ExportedGraphs words_graphs(const Words& model, const ExportOptions& options) {
  const Weights parameters(model);
  auto graph = std::make_unique<Graph>("words", "Which class a document belongs to");
  const Value units = graph->input(
      {"units",
       ElementType::Int64,
       {"batch", "words", 2},
       "numbers of the word at each place and of the bigram that begins there, 0 at padding"});
  const Value shares = graph->input({"shares",
                                     ElementType::Float,
                                     {"batch", "words", 2},
                                     "1 / how often the unit stands in the document; 0: none"});
  const Value raw =
      exp(squeeze(rows_of(parameters.value(*graph, "scores"), units), {3}));  // [B, W, 2]
  const Value squares = sum(sum(raw * raw * shares, 2, false), 1, true);      // [B, 1]
  const Value norm = sqrt(maximum(squares, graph->number(1e-12)));            // [B, 1]
  const Value weights = raw * shares;                                         // [B, W, 2]
  const Value values = rows_of(parameters.value(*graph, "values"), units);    // [B, W, 2, C]
  const Value total = sum(sum(unsqueeze(weights, {3}) * values, 2, false), 1, false);  // [B, C]
  output_answers(*graph, parameters.value(*graph, "bias") + total / norm, model,
                 parameters.tensor("bias").size(0), options);
  if (options.attention) {
    // A bigram at place t belongs half to t, half to t + 1.
    const Value half = pick(weights, 2, 1) / 2.0;                                    // [B, W]
    const Value padded = graph->node("Pad", {half, graph->integers({0, 1, 0, 0})});  // [B, 1 + W]
    const Value later = narrow(padded, 1, 0, graph->integers({-1}));                 // [B, W]
    const Value mass = pick(weights, 2, 0) + half + later;
    graph->output({"attention", ElementType::Float, {"batch", "words"}, "weight of each word"},
                  mass / maximum(sum(mass, 1, true), graph->number(1e-12)));
  }
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_words(const Model& model, const ExportOptions& options) {
  return export_as<Words>(model, options, words_graphs);
}

}  // namespace fovea
