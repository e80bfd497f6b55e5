// One of the choices that a question brings along: {"choice": …, "index": …, "probability": …,
// "probabilities": […]}, the index from 0, probabilities in the order of the choices. They are
// calibrated (temperature scaling), which is decided on the validation rows after training and kept
// in the run.
#pragma once

#include <string>
#include <vector>

#include "fovea/tasks/outputs/output.h"

namespace fovea {

struct ChoiceOptions {
  bool calibrate = true;
  void describe(OptionList& list);
};

class ChoiceOutput : public OutputKind {
 public:
  void describe(OptionList& list) override { list.group("output", options_); }
  /// loss, accuracy, and the share of attention on what matters, where that is known.
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  /// With log_loss, brier and calibration_error, the interval of the accuracy, and rules that read
  /// next to nothing beside it: chance, the longest choice, the one with most of the question's
  /// words.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  bool fit_answers(Model& model, const Dataset& validation) override;
  Json fitted_answers() const override { return {{"temperature", temperature_}}; }
  bool restore_answers(const std::optional<Field>& fitted) override;

  /// Calibrates the probabilities, and fills in the texts of the choices.
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Json answer_row(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;
  RowsKind rows_kind() const override { return {"choice", "", "", "nats"}; }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override;

 private:
  double temperature() const { return options_.calibrate ? temperature_ : 1; }

  ChoiceOptions options_;
  double temperature_ = 1;
};

}  // namespace fovea
