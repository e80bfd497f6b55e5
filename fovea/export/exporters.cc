#include "fovea/export/exporters.h"

#include <optional>

#include "fovea/base/error.h"

namespace fovea {

namespace {

/// What `exporter` makes of the model, when it is of the exporter's kind.
template <class Kind, ExportedParts (*exporter)(const Kind&, const ExportOptions&)>
std::optional<ExportedParts> when(const Model& model, const ExportOptions& options) {
  const auto* known = dynamic_cast<const Kind*>(&model);
  if (known == nullptr) return std::nullopt;
  return exporter(*known, options);
}

constexpr std::optional<ExportedParts> (*kExporters[])(const Model&, const ExportOptions&) = {
    when<FeatureAttention, export_feature_attention>,
    when<ContextAttention, export_context_attention>,
    when<Seq2Seq, export_seq2seq>,
    when<Transformer, export_transformer>,
    when<BertPretrainer, export_bert_pretrainer>,
    when<BertClassifier, export_bert_classifier>,
    when<BertTagger, export_bert_tagger>,
    when<LstmTagger, export_lstm_tagger>,
    when<HierarchicalAttention, export_hierarchical>,
    when<ShowAttendTell, export_show_attend_tell>,
    when<RecurrentGlimpses, export_recurrent_glimpses>,
    when<ImageBaseline, export_image_baseline>,
};

}  // namespace

ExportedParts one_part(std::unique_ptr<onnx::Graph> graph) {
  ExportedParts parts;
  parts.push_back({"model", std::move(graph)});
  return parts;
}

ExportedParts export_model(const Model& model, const ExportOptions& options) {
  for (const auto& exporter : kExporters)
    if (auto parts = exporter(model, options)) return std::move(*parts);
  const std::string name = model.name();  // fovea::Retain
  fail(ErrorKind::Unsupported, "export: the model ", name.substr(name.rfind(':') + 1),
       " has no ONNX form yet; docs/formats/onnx.md lists those that have one");
}

}  // namespace fovea
