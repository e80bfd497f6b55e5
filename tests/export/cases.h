// Models to export, one per way of building them, and attention on its own; each with our own
// answers to hold ONNX Runtime's against. export_test.cc lets ONNX's checker see them all;
// tests/onnx runs them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/export/exporters.h"

namespace fovea::testing {

struct ExportCase {
  std::string name;
  std::function<ExportedGraphs(const ExportOptions&)> graphs;
  /// Rows and, for sequences, their length -> {"inputs": {name: tensor}, "tokens": tensor,
  /// "outputs": {name: tensor}}. With tokens [B, T] the outputs are those of T steps that were told
  /// these tokens, [B, T, …], and "encoded" may hold what the encoder puts out. A tensor is
  /// {"type", "shape", "data"}.
  std::function<Json(int64_t rows, int64_t length)> answers;
};

std::vector<ExportCase> feature_cases();
std::vector<ExportCase> context_cases();
std::vector<ExportCase> seq2seq_cases();
std::vector<ExportCase> transformer_cases();
std::vector<ExportCase> bert_cases();
std::vector<ExportCase> lstm_tagger_cases();
std::vector<ExportCase> hierarchical_cases();
std::vector<ExportCase> words_cases();
std::vector<ExportCase> caption_cases();
std::vector<ExportCase> image_cases();
std::vector<ExportCase> series_cases();
std::vector<ExportCase> language_cases();   // a prompt, one token, several
std::vector<ExportCase> attention_cases();  // several heads and queries
std::vector<ExportCase> all_cases();

/// For the makers of cases: every parameter random, biases too.
void randomise(Model& model, uint64_t seed);
/// Takes heads out of every attention of the model: the first of one, all of the next, and so on.
void prune_heads(Model& model);
Json tensor_json(const at::Tensor& tensor);

}  // namespace fovea::testing
