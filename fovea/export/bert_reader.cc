#include "fovea/models/bert_reader.h"
#include "fovea/export/bert.h"
#include "fovea/export/exporters.h"
#include "fovea/tensor/torch.h"

namespace fovea {

static ExportedGraphs bert_reader_graphs(const BertReader& model, const ExportOptions& options) {
  using namespace onnx;
  const Weights parameters(model);
  auto graph = std::make_unique<Graph>("bert_reader", "Where in a text the answer stands");
  const BertValues bert = run_bert(*graph, parameters, /*segments=*/true, model.window());
  const Value logits = parameters.linear("output", bert.hidden);  // [B, N, 2]
  const Shape by_token{"batch", "length"};
  graph->output({"begin", ElementType::Float, by_token, "logit that the answer begins here"},
                pick(logits, 2, 0));
  graph->output({"end", ElementType::Float, by_token, "logit that its last token is here"},
                pick(logits, 2, 1));
  if (options.attention) put_out_attention(*graph, bert);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_bert_reader(const Model& model, const ExportOptions& options) {
  return export_as<BertReader>(model, options, bert_reader_graphs);
}

}  // namespace fovea
