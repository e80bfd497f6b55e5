// Any number of labels: {"labels": ["joy", "surprise"], "scores": {label: probability}}, each label
// on its own. Probabilities are calibrated by one temperature for all, and each label has a
// threshold of its own; both are decided on the validation rows after training and kept in the run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/tasks/outputs/classes.h"

namespace fovea {

/// Probabilities of all rows, in their order.
struct LabelScores {
  at::Tensor scores;  // [N, C]
  at::Tensor target;  // [N, C], 0 or 1
};

/// micro_f1, macro_f1, subset_accuracy, hamming_loss, lrap, coverage_error, ranking_loss and
/// mean_average_precision (docs/guides/evaluate.md) of probabilities and chosen labels [N, C].
Metrics label_metrics(const LabelScores& scored, const at::Tensor& predicted);

class LabelsOutput : public OutputKind {
 public:
  /// `labels` as the encodings know them; `options` of the group output, whoever describes them.
  LabelsOutput(ClassesOutput::Classes labels, std::shared_ptr<const ClassesOptions> options,
               std::vector<ClassesOutput::Truth> truths = {}, int64_t units = ClassesOutput::kUnits)
      : labels_(std::move(labels)),
        options_(std::move(options)),
        truths_(std::move(truths)),
        units_(units) {}

  std::vector<std::string> class_names() const override { return labels_(); }
  std::vector<std::string> monitors(const std::vector<std::string>&) const override {
    return {"mean_average_precision", "loss"};  // of no threshold
  }
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  /// Beside it a table by label, and an interval of macro_f1.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  /// The most frequent labels, and logistic regression of each against the rest where the data has
  /// inputs for it, its thresholds chosen on every fifth training row.
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override;
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;
  void check_options(bool has_validation) const override;
  bool fit_answers(Model& model, const Dataset& validation) override;
  Json fitted_answers() const override;
  bool restore_answers(const std::optional<Field>& fitted) override;

  /// Calibrates the probabilities.
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  std::string truth(const Dataset& rows, int64_t row) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// prediction, the labels with | between them, and p_LABEL of each.
  Json answer_row(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;
  /// Right where all labels are; probabilities of the whole set, label by label independent.
  RowsKind rows_kind() const override { return {"labels", "", "wrong labels", "nats"}; }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override;

 protected:
  virtual LabelScores score(const Model& model, const Dataset& rows,
                            const RowProgress& progress) const;
  /// Adds how much of the attention lies on what matters, where that is known.
  virtual void add_truth(const Model& model, const Dataset& rows, Metrics& metrics) const {
    add_attention_truth(model, rows, truths_, metrics);
  }
  /// Whether probabilities may be calibrated: not where something else adds up to them.
  virtual bool can_calibrate() const { return true; }
  const std::vector<std::string>& labels() const { return labels_(); }

 private:
  at::Tensor calibrated(const at::Tensor& scores) const;
  at::Tensor chosen(const at::Tensor& scores) const;  // bool, of the same shape
  at::Tensor thresholds() const;                      // [C]
  std::string rule() const;                           // of the thresholds
  ErrorTable by_label(const LabelScores& scored, const at::Tensor& predicted) const;

  ClassesOutput::Classes labels_;
  std::shared_ptr<const ClassesOptions> options_;
  std::vector<ClassesOutput::Truth> truths_;
  int64_t units_;
  double temperature_ = 1;
  std::vector<double> thresholds_;  // of each label; empty: 0.5
};

}  // namespace fovea
