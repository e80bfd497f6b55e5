#include "fovea/models/bert_chooser.h"
#include "fovea/export/bert.h"
#include "fovea/export/exporters.h"
#include "fovea/tensor/torch.h"

namespace fovea {

static ExportedGraphs bert_chooser_graphs(const BertChooser& model, const ExportOptions& options) {
  using namespace onnx;
  const Weights parameters(model);
  auto graph = std::make_unique<Graph>("bert_chooser", "How well a choice answers a question");
  const BertValues bert = run_bert(*graph, parameters, /*segments=*/true, model.window());
  const Value logits = parameters.linear("output", pooled(parameters, bert.hidden));  // [B, 1]
  graph->output({"score",
                 ElementType::Float,
                 {"batch", 1},
                 "of a question with one of its choices; the softmax over those of a question are "
                 "the probabilities"},
                options.temperature == 1 ? logits : logits / options.temperature);
  if (options.attention) put_out_attention(*graph, bert);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_bert_chooser(const Model& model,
                                                  const ExportOptions& options) {
  return export_as<BertChooser>(model, options, bert_chooser_graphs);
}

}  // namespace fovea
