// One of several classes: {"class": …, "probability": …, "scores": {class: probability}}.
// Probabilities are calibrated (temperature scaling), and of two classes the answer may begin at
// another threshold than 0.5; both are decided on the validation rows after training and kept in
// the run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/tasks/outputs/output.h"

namespace fovea {

/// Probabilities of all rows, in their order.
struct ClassScores {
  at::Tensor scores;  // [N, C]
  at::Tensor target;  // [N] int64
};

/// Predicts every row, in batches of about `units` padded positions (over_rows.h).
ClassScores score_rows(const Model& model, const Dataset& rows, int64_t classes, int64_t units,
                       const RowProgress& progress);

/// accuracy, balanced_accuracy, macro_f1, auc, average_precision, log_loss, brier and
/// calibration_error (docs/guides/evaluate.md) of probabilities [N, C] and chosen classes [N].
Metrics class_metrics(const ClassScores& scored, const at::Tensor& predicted);

/// The group output, of classes and of labels.
struct ClassesOptions {
  bool calibrate = true;
  std::string threshold;  // of several labels that of each
  void describe(OptionList& list);
  /// InvalidArgument for a threshold that no rule reads, or one to choose without validation rows.
  void check_threshold(bool has_validation) const;
};

inline constexpr int64_t kRowsToCalibrate = 30;  // fewer say nothing about probabilities
/// Guo et al. 2017: logits divided by one number change no ranking of the classes of a row, and
/// make probabilities what happens. Of probabilities that is p^(1/T), normalised.
at::Tensor with_temperature(const at::Tensor& scores, double temperature);  // [.., C]
/// The T of the smallest log loss on rows that were not trained on, with a weak prior
/// ln T ~ N(0, 1/2), which matters for a handful of rows, or where every row is right. `possible`,
/// bool [N, C]: which classes a row has; undefined: all.
double fit_temperature(const at::Tensor& scores, const at::Tensor& targets,
                       const at::Tensor& possible = {});  // [N, C], [N]
/// The temperature in a manifest, or 1.
double restore_temperature(const std::optional<Field>& fitted);

/// Attention of the map called `map` is held against planted truth, as the metric `metric`.
struct AttentionTruth {
  std::string map, metric = "attention_truth";
};
/// Adds them, where truth is planted.
void add_attention_truth(const Model& model, const Dataset& rows,
                         const std::vector<AttentionTruth>& truths, Metrics& metrics);

class ClassesOutput : public OutputKind {
 public:
  using Classes = std::function<const std::vector<std::string>&()>;
  using Truth = AttentionTruth;

  static constexpr int64_t kUnits = 8192;
  /// `classes` as the encodings know them; `units` of a batch that is measured.
  explicit ClassesOutput(Classes classes, int64_t units = kUnits, std::vector<Truth> truths = {})
      : classes_(std::move(classes)), units_(units), truths_(std::move(truths)) {}

  std::vector<std::string> class_names() const override { return classes_(); }
  void describe(OptionList& list) override { list.group("output", *options_); }
  std::shared_ptr<const ClassesOptions> options() const { return options_; }
  std::string truth(const Dataset& rows, int64_t row) const override;
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override {
    return measure_scores(model, rows, progress).metrics;
  }
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  /// majority, and logistic regression where the data has inputs for it.
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
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// prediction, probability, and p_CLASS of each.
  Json answer_row(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;
  RowsKind rows_kind() const override { return {"class", "", "", "nats"}; }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override;

 protected:
  struct Measured {
    Metrics metrics;
    ClassScores scored;
  };
  /// loss, accuracy, macro_f1, of two classes auc, and the share of attention on what matters.
  virtual Measured measure_scores(const Model& model, const Dataset& rows,
                                  const RowProgress& progress) const;
  /// Whether probabilities may be calibrated: not where something else adds up to them.
  virtual bool can_calibrate() const { return true; }

  const std::vector<std::string>& classes() const { return classes_(); }
  void add_truth(const Model& model, const Dataset& rows, Metrics& metrics) const {
    add_attention_truth(model, rows, truths_, metrics);
  }

 private:
  at::Tensor calibrated(const at::Tensor& scores) const;
  at::Tensor chosen_classes(const at::Tensor& scores) const;  // [N]

  Classes classes_;
  int64_t units_;
  std::vector<Truth> truths_;
  std::shared_ptr<ClassesOptions> options_ = std::make_shared<ClassesOptions>();
  double temperature_ = 1;
  std::optional<double> threshold_;
};

}  // namespace fovea
