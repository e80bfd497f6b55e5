#include "fovea/models/bert_tagger.h"
#include "fovea/export/bert.h"
#include "fovea/export/exporters.h"
#include "fovea/export/tagger.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// x[b, places[b, w]]: x [B, N, D], places int64 [B, W] -> [B, W, D]
onnx::Value rows_at(const onnx::Value& x, const onnx::Value& places) {
  return x.graph().node("GatherND", {x, unsqueeze(places, {2})}, {{"batch_dims", int64_t(1)}});
}

}  // namespace

static ExportedGraphs bert_tagger_graphs(const BertTagger& model, const ExportOptions& options) {
  using namespace onnx;
  const Weights parameters(model);
  auto graph = std::make_unique<Graph>("bert_tagger", "A tag for every word of a sentence");
  const BertValues bert = run_bert(*graph, parameters, /*segments=*/false, model.window());
  const Value words = graph->input({"words",
                                    ElementType::Int64,
                                    {"batch", "words"},
                                    "at which token each word begins; 0 at padding"});
  const Value first = rows_at(bert.hidden, words);  // [B, W, D]

  graph->output(tags_port(parameters), log_softmax(parameters.linear("output", first)));
  if (options.attention) put_out_attention(*graph, bert);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_bert_tagger(const Model& model, const ExportOptions& options) {
  return export_as<BertTagger>(model, options, bert_tagger_graphs);
}

}  // namespace fovea
