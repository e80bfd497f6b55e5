// One exporter per model, a row of the table in exporters.cc. An exporter says in the words of
// operators.h what the model's predict() computes, without dropout and draws.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/export/graph.h"
#include "fovea/models/classifier.h"

namespace fovea {

struct ExportOptions {
  bool attention = false;  // the weights are outputs too
  double temperature = 1;  // of the classes' probabilities: the graph answers as the run does
  double mean = 0, deviation = 1;  // of a number, likewise
};

/// One file of an exported model.
struct ExportedGraph {
  std::string name;  // "model"; of several files "encoder", "decoder"
  std::unique_ptr<onnx::Graph> graph;
};
using ExportedGraphs = std::vector<ExportedGraph>;
/// A model that is one file.
ExportedGraphs one_graph(std::unique_ptr<onnx::Graph> graph);

/// The output "probabilities" [batch, classes] of a classifier, calibrated.
void output_probabilities(onnx::Graph& graph, const onnx::Value& probabilities, int64_t classes,
                          const ExportOptions& options);

/// The answers of a Classifier's logits [batch, classes]: "probabilities" of classes or of labels,
/// calibrated, or "value" [batch, 1], in the unit of the target.
void output_answers(onnx::Graph& graph, const onnx::Value& logits, const Classifier& model,
                    int64_t classes, const ExportOptions& options);

/// What `exporter` makes of the model, when it is a Kind.
template <class Kind, class Exporter>
std::optional<ExportedGraphs> export_as(const Model& model, const ExportOptions& options,
                                        Exporter exporter) {
  const auto* known = dynamic_cast<const Kind*>(&model);
  if (known == nullptr) return std::nullopt;
  return exporter(*known, options);
}

/// By the model's kind. Unsupported when it has no exporter.
ExportedGraphs export_model(const Model& model, const ExportOptions& options);

}  // namespace fovea
