// Symbols that are put out step by step (task `copy`): wrong bits, wrong sequences, and the cost of
// a sequence in bits, as Graves et al. 2014 count it; of N-grams beside the optimal estimator
// (metrics/dynamic_ngrams.h). Where it is known in which steps was heard what is due
// (data/copies/kind.h), attention_truth: how much of what the heads read then was written in these
// steps.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/copies/dataset.h"
#include "fovea/tasks/outputs/output.h"

namespace fovea {

/// What the answers of a run are about.
struct CopyAnswers {
  CopyLayout layout;
  int64_t slots = 0;  // of the network's memory; 0: it has none
  int64_t order = 0;  // of N-grams
};

class CopiesOutput : public OutputKind {
 public:
  /// `answers` is asked when data were loaded.
  explicit CopiesOutput(std::function<CopyAnswers()> answers) : answers_(std::move(answers)) {}

  /// Guesses of N-grams are mostly wrong by nature: there the loss decides.
  std::vector<std::string> monitors(const std::vector<std::string>& usual) const override;
  /// Where all rows together have few lengths, also by length: bit_error_20, ….
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  LengthCurve measure_by_length(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const override;
  /// Chance, and of N-grams the optimal estimator.
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override;
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;

  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// Steps of the output are called by what was put out; the slots of a memory are an axis.
  Example describe_output(const Example& example, const Prediction& prediction) const override;

 private:
  std::function<CopyAnswers()> answers_;
};

}  // namespace fovea
