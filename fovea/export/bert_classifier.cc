#include "fovea/models/bert_classifier.h"
#include "fovea/export/bert.h"
#include "fovea/export/exporters.h"
#include "fovea/tensor/torch.h"

namespace fovea {

static ExportedGraphs bert_classifier_graphs(const BertClassifier& model,
                                             const ExportOptions& options) {
  using namespace onnx;
  const Weights parameters(model);
  auto graph = std::make_unique<Graph>("bert_classifier", "Which class a text belongs to");
  const BertValues bert = run_bert(*graph, parameters, /*segments=*/true, model.shape().window);
  const bool first = model.options().pooling == "cls";
  const Value summary = first ? pooled(parameters, bert.hidden) : mean_of_real(bert);  // [B, D]

  output_answers(*graph, parameters.linear("output", summary), model, model.shape().classes,
                 options);
  if (options.attention) put_out_attention(*graph, bert);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_bert_classifier(const Model& model,
                                                     const ExportOptions& options) {
  return export_as<BertClassifier>(model, options, bert_classifier_graphs);
}

}  // namespace fovea
