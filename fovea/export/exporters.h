// One exporter per model; exporters.cc lists them in its table. An exporter says in the words of
// operators.h what the model's predict() computes, without dropout and draws.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/export/graph.h"
#include "fovea/models/bert_classifier.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/models/bert_tagger.h"
#include "fovea/models/context_attention.h"
#include "fovea/models/feature_attention.h"
#include "fovea/models/hierarchical.h"
#include "fovea/models/image_baselines.h"
#include "fovea/models/lstm_tagger.h"
#include "fovea/models/recurrent_glimpses.h"
#include "fovea/models/seq2seq.h"
#include "fovea/models/show_attend_tell.h"
#include "fovea/models/transformer.h"

namespace fovea {

struct ExportOptions {
  bool attention = false;  // the weights are outputs too
};

/// One file of an exported model.
struct ExportedPart {
  std::string part;  // "model"; of several files "encoder", "decoder"
  std::unique_ptr<onnx::Graph> graph;
};
using ExportedParts = std::vector<ExportedPart>;
/// A model that is one file.
ExportedParts one_part(std::unique_ptr<onnx::Graph> graph);

ExportedParts export_feature_attention(const FeatureAttention& model, const ExportOptions& options);
ExportedParts export_context_attention(const ContextAttention& model, const ExportOptions& options);
ExportedParts export_seq2seq(const Seq2Seq& model, const ExportOptions& options);
ExportedParts export_transformer(const Transformer& model, const ExportOptions& options);
ExportedParts export_bert_pretrainer(const BertPretrainer& model, const ExportOptions& options);
ExportedParts export_bert_classifier(const BertClassifier& model, const ExportOptions& options);
ExportedParts export_bert_tagger(const BertTagger& model, const ExportOptions& options);
ExportedParts export_lstm_tagger(const LstmTagger& model, const ExportOptions& options);
ExportedParts export_hierarchical(const HierarchicalAttention& model, const ExportOptions& options);
ExportedParts export_show_attend_tell(const ShowAttendTell& model, const ExportOptions& options);
ExportedParts export_recurrent_glimpses(const RecurrentGlimpses& model,
                                        const ExportOptions& options);
ExportedParts export_image_baseline(const ImageBaseline& model, const ExportOptions& options);

/// By the model's kind. Unsupported when it has no exporter.
ExportedParts export_model(const Model& model, const ExportOptions& options);

}  // namespace fovea
