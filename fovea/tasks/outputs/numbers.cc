#include "fovea/tasks/outputs/numbers.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/metrics/regression.h"
#include "fovea/tasks/data_kind.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

const LinearBaseline kRidgeBaseline{"ridge"};

}  // namespace

Metrics number_metrics(const at::Tensor& values, const at::Tensor& target, double deviation) {
  Metrics metrics{{"loss", mean_squared_error(values, target)},
                  {"mae", mean_absolute_error(values, target) * deviation}};
  if (const auto r2 = r_squared(values, target)) metrics.push_back({"r2", *r2, true});
  return metrics;
}

PredictedNumbers predict_numbers(const Model& model, const Dataset& rows, int64_t units,
                                 const RowProgress& progress) {
  if (rows.columns().count("target") > 0)
    return {model.predict(whole(rows).to(model.device())).values.squeeze(1).cpu(),
            rows.columns().at("target")};
  const PredictedNumbers all{torch::zeros({rows.size()}), torch::zeros({rows.size()})};
  over_rows(
      model, rows, units,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        put_rows(picked, model.predict(batch).values.squeeze(1), all.values);
        put_rows(picked, batch.at("target"), all.target);
      },
      progress);
  return all;
}

Metrics judged_numbers(const PredictedNumbers& numbers) {
  const auto& [values, target] = numbers;
  Metrics metrics{{"mae", mean_absolute_error(values, target)},
                  {"rmse", root_mean_squared_error(values, target)},
                  {"median_absolute_error", median_absolute_error(values, target)}};
  if (const auto r2 = r_squared(values, target)) metrics.push_back({"r2", *r2, true});
  if (const auto own = pearson(values, target)) metrics.push_back({"pearson", *own, true});
  if (const auto own = spearman(values, target)) metrics.push_back({"spearman", *own, true});
  return metrics;
}

void judge_numbers(const PredictedNumbers& numbers, const std::string& target,
                   Evaluation& evaluation) {
  const at::Tensor values = numbers.values.to(at::kDouble).flatten().contiguous();  // [N]
  const at::Tensor wanted = numbers.target.to(at::kDouble).flatten().contiguous();  // [N]
  evaluation.merge(judged_numbers({values, wanted}));
  evaluation.main = evaluation.find("r2") ? "r2" : "mae";
  evaluation.target = target;
  if (!values.isfinite().all().item<bool>()) return;  // of a training that diverged
  const double *value = values.data_ptr<double>(), *right = wanted.data_ptr<double>();
  evaluation.interval = bootstrap_interval(
      values.size(0), [&](std::span<const double> times) -> std::optional<double> {
        double count = 0, mean = 0, squares = 0, absolute = 0, variation = 0;
        for (size_t i = 0; i < times.size(); ++i) count += times[i], mean += times[i] * right[i];
        mean /= count;
        for (size_t i = 0; i < times.size(); ++i) {
          const double off = value[i] - right[i], around = right[i] - mean;
          squares += times[i] * off * off;
          absolute += times[i] * std::abs(off);
          variation += times[i] * around * around;
        }
        if (evaluation.main == "mae") return absolute / count;
        return variation > 0 ? std::optional<double>(1 - squares / variation) : std::nullopt;
      });
  evaluation.residuals = summarize_residuals(values, wanted);
  for (const int64_t row : evaluation.residuals->worst_rows)
    evaluation.worst.push_back({row + 1, right[row], value[row]});
}

NamedTensors fit_number_baselines(const at::Tensor& target, const LinearInputs& inputs) {
  if (target.dim() != 1 || target.numel() == 0) return {};
  const at::Tensor sorted = std::get<0>(target.sort());
  const int64_t count = target.size(0);
  NamedTensors fitted{{"mean", target.mean().reshape({1})},
                      {"median", ((sorted[(count - 1) / 2] + sorted[count / 2]) / 2).reshape({1})}};
  if (inputs.empty()) return fitted;
  const LinearInputs seen = kRidgeBaseline.learn_inputs(inputs, fitted);
  kRidgeBaseline.put(fit_linear(seen, target, {LinearLoss::Squared}), fitted);
  return fitted;
}

std::vector<BaselineResult> measure_number_baselines(
    const NamedTensors& fitted, const at::Tensor& target, const LinearInputs& inputs,
    const std::function<at::Tensor(const at::Tensor&)>& original) {
  if (fitted.count("mean") == 0 || target.numel() == 0) return {};
  std::vector<BaselineResult> results;
  for (const char* name : {"mean", "median"})
    results.push_back(
        {name, judged_numbers({original(fitted.at(name).expand_as(target)), target})});
  if (inputs.empty() || !kRidgeBaseline.is_in(fitted)) return results;
  const at::Tensor outputs = kRidgeBaseline.outputs(inputs, fitted);  // [N, 1]
  results.push_back({LinearBaseline::title("ridge regression", inputs),
                     judged_numbers({original(outputs.squeeze(1)), target})});
  return results;
}

std::vector<RowAnswer> judge_number_rows(
    const PredictedRows& rows, const std::function<at::Tensor(const at::Tensor&)>& predicted,
    const std::function<at::Tensor(const at::Tensor&)>& original) {
  const at::Tensor wanted =
      original(rows.batch.at("target").to(at::kCPU)).to(at::kDouble).flatten().contiguous();  // [B]
  std::vector<RowAnswer> judged(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const at::Tensor value = rows.predictions[i].values.narrow(0, 0, 1).to(at::kCPU);  // [1]
    judged[i].answer_number = predicted(value).item<double>();
    judged[i].truth_number = wanted.data_ptr<double>()[i];
  }
  return judged;
}

at::Tensor NumberOutput::Target::original(const at::Tensor& encoded) const {
  return transform.is_none() ? from_standard(encoded) : transform.decode(encoded);
}

at::Tensor NumberOutput::Target::predicted(const at::Tensor& encoded) const {
  return transform.is_none() ? from_standard(encoded) : transform.decode_prediction(encoded);
}

at::Tensor NumberOutput::Target::from_standard(const at::Tensor& numbers) const {
  return numbers.to(at::kDouble) * deviation + mean;
}

at::Tensor NumberOutput::Target::to_standard(const at::Tensor& encoded) const {
  return transform.is_none() ? encoded : (transform.decode(encoded) - mean) / deviation;
}

Evaluation NumberOutput::evaluate(const Metrics& measured, const at::Tensor& values,
                                  const at::Tensor& target) const {
  const Target known = target_();
  Evaluation evaluation;
  evaluation.metrics = measured;
  judge_numbers({known.predicted(values), known.original(target)}, known.name, evaluation);
  return evaluation;
}

Evaluation NumberOutput::evaluate(const Model& model, const Dataset& rows,
                                  const RowProgress& progress) const {
  const PredictedNumbers numbers = predict_numbers(model, rows, units_, progress);
  return evaluate(metrics_of(model, rows, numbers), numbers.values, numbers.target);
}

std::vector<BaselineResult> NumberOutput::measure_baselines(const NamedTensors& fitted,
                                                            const Dataset& rows,
                                                            const LinearInputs& inputs) const {
  if (rows.size() == 0) return {};
  const Target known = target_();
  return measure_number_baselines(
      fitted, known.original(targets_of(rows)), inputs,
      [&](const at::Tensor& numbers) { return known.from_standard(numbers); });
}

Metrics NumberOutput::measure(const Model& model, const Dataset& rows,
                              const RowProgress& progress) const {
  return metrics_of(model, rows, predict_numbers(model, rows, units_, progress));
}

Metrics NumberOutput::metrics_of(const Model& model, const Dataset& rows,
                                 const PredictedNumbers& numbers) const {
  const auto& [values, target] = numbers;
  Metrics metrics = number_metrics(values, target, target_().deviation);
  if (const auto own = pearson(values, target)) metrics.push_back({"pearson", *own, true});
  if (const auto own = spearman(values, target)) metrics.push_back({"spearman", *own, true});
  add_attention_truth(model, rows, truths_, metrics);
  return metrics;
}

std::string NumberOutput::truth(const Dataset& rows, int64_t row) const {
  const at::Tensor encoded = rows.batch({&row, 1}).at("target").to(at::kFloat).flatten();
  return format_number(target_().original(encoded).item<double>(), 7);
}

Json NumberOutput::answer(const Example&, const Prediction& prediction) const {
  return {{"value", target_().predicted(prediction.values.narrow(0, 0, 1)).item<double>()}};
}

Json NumberOutput::answer_row(const Example& example, const Prediction& prediction) const {
  return {{"prediction", answer(example, prediction)["value"]}};
}

std::string NumberOutput::answer_line(const Example& example, const Prediction& prediction) const {
  return format_number(answer(example, prediction)["value"], 7);
}

std::vector<RowAnswer> NumberOutput::judge_rows(const PredictedRows& rows) const {
  const Target known = target_();
  return judge_number_rows(
      rows, [&](const at::Tensor& values) { return known.predicted(values); },
      [&](const at::Tensor& encoded) { return known.original(encoded); });
}

std::string NumberOutput::headline(const Example& example, const Prediction& prediction) const {
  return target_().name + " = " + answer_line(example, prediction);
}

}  // namespace fovea
