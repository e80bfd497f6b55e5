#include "fovea/export/exporters.h"

#include "fovea/base/error.h"
#include "fovea/export/operators.h"

namespace fovea {

// The table: one row for each export_NAME(); all but image_baseline, in glimpses.cc, have a file of
// their own.
#define FOVEA_EXPORTERS(row)                                                                     \
  row(feature_attention) row(table_network) row(context_attention) row(seq2seq) row(transformer) \
      row(bert_pretrainer) row(bert_classifier) row(bert_tagger) row(bert_reader)                \
          row(bert_chooser) row(lstm_tagger) row(hierarchical) row(words) row(show_attend_tell)  \
              row(recurrent_glimpses) row(image_baseline) row(vision_transformer)                \
                  row(series_linear) row(series_patches) row(language_model)

using Exporter = std::optional<ExportedGraphs>(const Model&, const ExportOptions&);
#define FOVEA_DECLARE(name) Exporter export_##name;
FOVEA_EXPORTERS(FOVEA_DECLARE)
#undef FOVEA_DECLARE

ExportedGraphs one_graph(std::unique_ptr<onnx::Graph> graph) {
  ExportedGraphs graphs;
  graphs.push_back({"model", std::move(graph)});
  return graphs;
}

void output_probabilities(onnx::Graph& graph, const onnx::Value& probabilities, int64_t classes,
                          const ExportOptions& options) {
  constexpr double kSmallest = 1e-30;  // as with_temperature() has it
  onnx::Value result = probabilities;
  if (options.temperature != 1)
    result =
        onnx::softmax(graph.node("Log", {graph.node("Max", {result, graph.number(kSmallest)})}) /
                      options.temperature);
  graph.output({"probabilities",
                onnx::ElementType::Float,
                {"batch", classes},
                "of each class, in the order of the run's classes"},
               result);
}

void output_answers(onnx::Graph& graph, const onnx::Value& logits, const Classifier& model,
                    int64_t classes, const ExportOptions& options) {
  using onnx::ElementType;
  switch (model.kind()) {
    case AnswerKind::Class:
      return output_probabilities(graph, onnx::softmax(logits), classes, options);
    case AnswerKind::Labels:
      graph.output({"probabilities",
                    ElementType::Float,
                    {"batch", classes},
                    "of each label, in the order of the run's labels"},
                   sigmoid(options.temperature == 1 ? logits : logits / options.temperature));
      return;
    case AnswerKind::Number:
      graph.output({"value", ElementType::Float, {"batch", classes}, "the number"},
                   logits * graph.number(options.deviation) + graph.number(options.mean));
      return;
  }
}

ExportedGraphs export_model(const Model& model, const ExportOptions& options) {
#define FOVEA_ROW(name) export_##name,
  for (Exporter* exporter : {FOVEA_EXPORTERS(FOVEA_ROW)})
#undef FOVEA_ROW
    if (auto graphs = exporter(model, options)) return std::move(*graphs);
  const std::string name = model.name();  // fovea::Retain
  fail(ErrorKind::Unsupported, "export: the model ", name.substr(name.rfind(':') + 1),
       " has no ONNX form yet; docs/formats/onnx.md lists those that have one");
}

}  // namespace fovea
