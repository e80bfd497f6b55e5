// A number: {"value": 3.5}, in the unit of the target.
#pragma once

#include <functional>
#include <string>

#include "fovea/data/tables/target_transform.h"
#include "fovea/tasks/outputs/classes.h"
#include "fovea/tasks/outputs/output.h"

namespace fovea {

/// loss, which is the mean squared error, mae in the unit of the target and, where it is defined,
/// r2. Values are standardised: target = deviation * value + mean.
Metrics number_metrics(const at::Tensor& values, const at::Tensor& target, double deviation = 1);

/// Numbers in the unit of the target [N], and what they should be [N].
struct PredictedNumbers {
  at::Tensor values, target;
};

/// Predicts every row: `values` as the network has them. Rows whose columns are resident at once,
/// others in batches of about `units` padded positions (over_rows.h).
PredictedNumbers predict_numbers(const Model& model, const Dataset& rows, int64_t units,
                                 const RowProgress& progress);

/// mae, rmse, median_absolute_error and, where they are defined, r2, pearson and spearman.
Metrics judged_numbers(const PredictedNumbers& numbers);

/// Adds them to an evaluation, with the interval of r2 (or of mae), residuals and the worst rows.
void judge_numbers(const PredictedNumbers& numbers, const std::string& target,
                   Evaluation& evaluation);

/// mean, median and, with inputs, ridge regression, of tokens on TF-IDF; in the unit of the targets
/// [N].
NamedTensors fit_number_baselines(const at::Tensor& target, const LinearInputs& inputs);
/// `target` [N] in its own unit; `original` gives the fitted numbers in it.
std::vector<BaselineResult> measure_number_baselines(
    const NamedTensors& fitted, const at::Tensor& target, const LinearInputs& inputs,
    const std::function<at::Tensor(const at::Tensor&)>& original);

/// Of numbers in the unit of the target: `predicted` makes them of what the network gives,
/// `original` of the batch's targets.
std::vector<RowAnswer> judge_number_rows(
    const PredictedRows& rows, const std::function<at::Tensor(const at::Tensor&)>& predicted,
    const std::function<at::Tensor(const at::Tensor&)>& original);

class NumberOutput : public OutputKind {
 public:
  struct Target {
    std::string name;
    double mean = 0, deviation = 1;
    TargetTransform transform = {};

    at::Tensor original(const at::Tensor& encoded) const;       // of the rows
    at::Tensor predicted(const at::Tensor& encoded) const;      // of a network
    at::Tensor from_standard(const at::Tensor& numbers) const;  // of baselines, which learn the
    at::Tensor to_standard(const at::Tensor& encoded) const;    // number itself, standardised
  };

  /// `target` as the encodings know it.
  explicit NumberOutput(std::function<Target()> target, std::vector<AttentionTruth> truths = {},
                        int64_t units = ClassesOutput::kUnits)
      : target_(std::move(target)), truths_(std::move(truths)), units_(units) {}

  std::vector<std::string> monitors(const std::vector<std::string>&) const override {
    return {"loss"};
  }
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  /// The same of encoded values that were predicted already [N], with the metrics of measure().
  Evaluation evaluate(const Metrics& measured, const at::Tensor& values,
                      const at::Tensor& target) const;
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override {
    if (train.size() == 0) return {};
    return fit_number_baselines(target_().to_standard(targets_of(train)), inputs);
  }
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;
  std::string truth(const Dataset& rows, int64_t row) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  Json answer_row(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;
  RowsKind rows_kind() const override { return {"number", target_().name}; }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override;

 protected:
  /// What measure() gives, of rows that were predicted.
  virtual Metrics metrics_of(const Model& model, const Dataset& rows,
                             const PredictedNumbers& numbers) const;

 private:
  std::function<Target()> target_;
  std::vector<AttentionTruth> truths_;
  int64_t units_;
};

}  // namespace fovea
