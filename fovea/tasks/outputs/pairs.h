// The target text of a pair of texts, measured as a translation (BLEU, chrF) or by exact matches. A
// word that the vocabulary lacks is copied from where the decoder looked (Luong 2015).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/decoding/search.h"
#include "fovea/metrics/alignment_error.h"
#include "fovea/tasks/outputs/sequence.h"

namespace fovea {

struct PairsDecoding : SearchOptions {
  bool copy_unknown = true;
  void describe(OptionList& list);
};

class PairsOutput : public SequenceOutput {
 public:
  /// What is needed of the data.
  struct Data {
    std::function<const Tokeniser&()> target;
    std::function<Batch(std::span<const Example> examples)> collate;
  };
  PairsOutput(const Data& data, std::shared_ptr<PairsDecoding> decoding, bool is_translation)
      : SequenceOutput(data.target, "target"),
        collate_(data.collate),
        decoding_(std::move(decoding)),
        is_translation_(is_translation) {}

  void describe(OptionList& list) override { list.group("decoding", *decoding_); }
  /// Of a translation with the alignment error rate.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;
  LengthCurve measure_by_length(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const override;
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;

 protected:
  Metrics text_metrics(const GeneratedRows& texts) const override;
  void add_metrics(const Model& model, const Dataset& rows, const GeneratedRows& all,
                   Metrics& metrics) const override;
  std::string main_metric() const override { return is_translation_ ? "bleu" : "exact_match"; }
  SummedMetric main_sums(const GeneratedRows& all) const override;
  std::string label(int64_t token) const override { return target().vocabulary().token(token); }
  RowBatches batches(const Model& model, const Dataset& rows) const override;
  void finish_rows(const Model& model, const Dataset& rows, std::span<const int64_t> picked,
                   std::vector<Prediction>& predictions) const override;

 private:
  /// An output with words that the vocabulary lacks.
  struct Unknown {
    const Example* example;
    Decoded* output;
  };
  void copy_unknown(const Model& model, std::span<const Unknown> unknown) const;
  std::vector<std::string> pieces(const std::vector<int64_t>& tokens) const;
  int64_t unknown_symbol() const { return target().vocabulary().special().unknown; }
  std::string word_start() const;

  /// The share of attention on what each token of the right target comes from, where links say it.
  std::optional<double> attention_on_links(const Model& model, const Dataset& rows) const;
  /// What attention joins while the right target is written beside the links of the data.
  AlignmentCounts aligned_words(const Model& model, const Dataset& rows) const;

  std::function<Batch(std::span<const Example> examples)> collate_;
  std::shared_ptr<PairsDecoding> decoding_;
  bool is_translation_;
};

/// With an axis for what a position sees of the output: begin, and all before itself.
class TransformerPairsOutput : public PairsOutput {
 public:
  using PairsOutput::PairsOutput;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
};

}  // namespace fovea
