#include "fovea/tasks/outputs/classes.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/metrics/calibration.h"
#include "fovea/metrics/classification.h"
#include "fovea/metrics/threshold.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr const char* kClassCounts = "class_counts";
const LinearBaseline kLogisticBaseline{"logistic"};
constexpr double kRareClass = 0.05;   // below this AUC says little as well
constexpr int64_t kFewestToRank = 5;  // rows of each class; with fewer the interval is by chance
constexpr double kSmallestTemperature = 0.01, kLargestTemperature = 100;

bool has_nan(const at::Tensor& scores) {
  return scores.isnan().any().item<bool>();
}

bool is_average_precision(const Metric& metric) {
  return metric.name == "average_precision";
}

/// What decides, by how often each class occurs [C]. A threshold of one's own trades accuracy for
/// something else; then the ranking is judged.
std::string main_class_metric(const at::Tensor& counts, bool has_threshold) {
  const at::Tensor shares = counts.to(at::kDouble) / counts.sum();
  if (shares.max().item<double>() == 1) return "accuracy";  // one class only
  if (!has_threshold && shares.max().item<double>() < kMostlyOneClass) return "accuracy";
  if (counts.numel() > 2) return "balanced_accuracy";
  return shares.min().item<double>() < kRareClass ? "average_precision" : "auc";
}

/// Weighted by how often each row was drawn.
double resampled_balanced_accuracy(const at::Tensor& predicted, const at::Tensor& target,
                                   int64_t classes, std::span<const double> times) {
  std::vector<double> found(static_cast<size_t>(classes)), there(found.size());
  for (size_t i = 0; i < times.size(); ++i) {
    const auto right = size_t(target.data_ptr<int64_t>()[i]);
    there[right] += times[i];
    if (predicted.data_ptr<int64_t>()[i] == int64_t(right)) found[right] += times[i];
  }
  double sum = 0, occurring = 0;
  for (size_t c = 0; c < found.size(); ++c)
    if (there[c] > 0) sum += found[c] / there[c], ++occurring;
  return sum / occurring;
}

std::optional<Interval> class_interval(const std::string& metric, const ClassScores& scored,
                                       const at::Tensor& predicted) {
  const int64_t rows = scored.target.size(0), classes = scored.scores.size(1);
  if (metric == "accuracy")
    return wilson_interval(predicted.eq(scored.target).to(at::kDouble).mean().item<double>(), rows);
  if (metric == "balanced_accuracy")
    return bootstrap_interval(rows, [&](std::span<const double> times) -> std::optional<double> {
      return resampled_balanced_accuracy(predicted, scored.target, classes, times);
    });
  if (at::bincount(scored.target, {}, classes).min().item<int64_t>() < kFewestToRank) return {};
  const RankedScores ranked(scored.scores.select(1, 1), scored.target);
  return bootstrap_interval(rows, [&](std::span<const double> times) {
    return metric == "auc" ? ranked.auc(times) : ranked.average_precision(times);
  });
}

}  // namespace

void ClassesOptions::describe(OptionList& list) {
  list.add("calibrate", calibrate,
           "probabilities by temperature scaling, fitted on the validation rows after training");
  list.add("threshold", threshold,
           "two classes: the probability from which on the second is the answer: a number, or "
           "chosen on the validation rows by f1, youden, cost=FP:FN, precision=0.9 or recall=0.9; "
           "empty: 0.5. Several labels: that of each; empty: f1");
}

void ClassesOptions::check_threshold(bool has_validation) const {
  if (threshold.empty()) return;
  require(ThresholdRule(threshold).is_fixed() || has_validation, ErrorKind::InvalidArgument,
          "threshold ", threshold, ": is chosen on validation rows, of which there are none; give ",
          "a number");
}

at::Tensor with_temperature(const at::Tensor& scores, double temperature) {
  if (temperature == 1) return scores;
  // Below this a probability is the rounding of a softmax.
  constexpr double kSmallest = 1e-30;
  return at::softmax(scores.to(at::kDouble).clamp_min(kSmallest).log() / temperature, -1)
      .to(scores.scalar_type());
}

double fit_temperature(const at::Tensor& scores, const at::Tensor& targets,
                       const at::Tensor& possible) {
  constexpr double kSmallest = 1e-30, kPriorVariance = 0.5, kWidest = 3;  // of ln T
  at::Tensor logits = scores.to(at::kDouble).clamp_min(kSmallest).log();  // [N, C]
  if (possible.defined()) logits = logits.masked_fill(~possible, -INFINITY);
  const at::Tensor truth = targets.to(at::kLong).unsqueeze(1);  // [N, 1]
  const auto cost = [&](double log_temperature) {
    const at::Tensor scaled = at::log_softmax(logits / std::exp(log_temperature), 1);
    return -scaled.gather(1, truth).sum().item<double>() +
           log_temperature * log_temperature / (2 * kPriorVariance);
  };
  // The log loss is convex in 1 / T, so it has one minimum; golden section finds it.
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = -kWidest, high = kWidest;
  double left = high - ratio * (high - low), right = low + ratio * (high - low);
  double at_left = cost(left), at_right = cost(right);
  while (high - low > 1e-4) {
    if (at_left <= at_right) {
      high = right, right = left, at_right = at_left;
      left = high - ratio * (high - low), at_left = cost(left);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + ratio * (high - low), at_right = cost(right);
    }
  }
  return std::exp((low + high) / 2);
}

double restore_temperature(const std::optional<Field>& fitted) {
  const auto field = fitted ? fitted->find("temperature") : std::nullopt;
  if (!field) return 1;
  const double temperature = field->finite();
  field->expect(temperature >= kSmallestTemperature && temperature <= kLargestTemperature,
                "a number from 0.01 to 100");
  return temperature;
}

ClassScores score_rows(const Model& model, const Dataset& rows, int64_t classes, int64_t units,
                       const RowProgress& progress) {
  const ClassScores all{torch::zeros({rows.size(), classes}),
                        torch::zeros({rows.size()}, torch::kLong)};
  over_rows(
      model, rows, units,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        put_rows(picked, model.predict(batch).scores, all.scores);
        put_rows(picked, batch.at("target"), all.target);
      },
      progress);
  return all;
}

Metrics class_metrics(const ClassScores& scored, const at::Tensor& predicted) {
  const auto& [scores, target] = scored;
  const int64_t count = scores.size(1);
  Metrics metrics{
      {"accuracy", predicted.eq(target).to(at::kDouble).mean().item<double>(), true},
      {"balanced_accuracy", balanced_accuracy(confusion_matrix(predicted, target, count)), true},
      {"macro_f1", macro_f1(predicted, target, count), true}};
  const auto area = macro_auc(scores, target);  // none where the rows are of one class
  if (area) metrics.push_back({"auc", *area, true});
  // Sums of single precision may pass 1 by a rounding.
  const at::Tensor shares = scores.to(at::kDouble).clamp(0, 1);
  if (const auto precision = macro_average_precision(shares, target); area && precision)
    metrics.push_back({"average_precision", *precision, true});
  metrics.push_back({"log_loss", log_loss(shares, target)});
  metrics.push_back({"brier", brier_score_of_classes(shares, target)});
  metrics.push_back({"calibration_error", calibration_error_of_classes(shares, target)});
  return metrics;
}

ClassesOutput::Measured ClassesOutput::measure_scores(const Model& model, const Dataset& rows,
                                                      const RowProgress& progress) const {
  const auto count = static_cast<int64_t>(classes().size());
  const ClassScores scored = score_rows(model, rows, count, units_, progress);
  const auto& [scores, target] = scored;
  Metrics metrics{{"loss", log_loss(scores, target)},
                  {"accuracy", accuracy(scores, target), true},
                  {"macro_f1", macro_f1(predicted_classes(scores), target, count), true}};
  if (count == 2)
    if (const auto area = auc(scores.select(1, 1), target)) metrics.push_back({"auc", *area, true});
  add_truth(model, rows, metrics);
  return {metrics, scored};
}

void add_attention_truth(const Model& model, const Dataset& rows,
                         const std::vector<AttentionTruth>& truths, Metrics& metrics) {
  if (!rows.has_truth()) return;
  for (const AttentionTruth& truth : truths)
    if (const auto share = planted_truth(model, rows, truth.map))
      metrics.push_back({truth.metric, *share, true});
}

at::Tensor ClassesOutput::calibrated(const at::Tensor& scores) const {
  return options_->calibrate ? with_temperature(scores, temperature_) : scores;
}

at::Tensor ClassesOutput::chosen_classes(const at::Tensor& scores) const {
  return threshold_ ? predicted_classes(scores.select(-1, 1), *threshold_)
                    : predicted_classes(scores);
}

Evaluation ClassesOutput::evaluate(const Model& model, const Dataset& rows,
                                   const RowProgress& progress) const {
  auto [metrics, scored] = measure_scores(model, rows, progress);
  Evaluation evaluation;
  evaluation.metrics = std::move(metrics);
  evaluation.main = "accuracy";
  if (has_nan(scored.scores)) return evaluation;  // of a training that diverged
  scored.target = scored.target.to(at::kLong).contiguous();
  const ClassScores answers{calibrated(scored.scores), scored.target};
  const at::Tensor predicted = chosen_classes(answers.scores).contiguous();
  evaluation.merge(class_metrics(answers, predicted));
  evaluation.classes = classes();
  evaluation.confusion = confusion_matrix(predicted, scored.target, int64_t(classes().size()));
  evaluation.main = main_class_metric(evaluation.confusion.sum(1), threshold_.has_value());
  if (!evaluation.find("auc")) std::erase_if(evaluation.metrics, is_average_precision);
  evaluation.interval = class_interval(evaluation.main, answers, predicted);
  evaluation.threshold = threshold_;
  evaluation.threshold_rule = options_->threshold;
  if (options_->calibrate && temperature_ != 1) {
    evaluation.temperature = temperature_;
    evaluation.uncalibrated_error =
        calibration_error_of_classes(scored.scores.to(at::kDouble).clamp(0, 1), scored.target);
  }
  return evaluation;
}

NamedTensors ClassesOutput::fit_baselines(const Dataset& train, const LinearInputs& inputs) const {
  const auto count = static_cast<int64_t>(classes().size());
  if (train.size() == 0 || count < 2) return {};
  const at::Tensor target = targets_of(train).to(at::kLong);  // [N]
  NamedTensors fitted{{kClassCounts, at::bincount(target, {}, count)}};
  if (inputs.empty()) return fitted;
  const LinearInputs seen = kLogisticBaseline.learn_inputs(inputs, fitted);
  kLogisticBaseline.put(fit_linear(seen, target, {LinearLoss::Logistic, count == 2 ? 1 : count}),
                        fitted);
  return fitted;
}

std::vector<BaselineResult> ClassesOutput::measure_baselines(const NamedTensors& fitted,
                                                             const Dataset& rows,
                                                             const LinearInputs& inputs) const {
  if (fitted.count(kClassCounts) == 0 || rows.size() == 0) return {};
  const at::Tensor target = targets_of(rows).to(at::kLong), counts = fitted.at(kClassCounts);
  const at::Tensor shares = counts.to(at::kDouble) / counts.sum();  // [C]
  const ClassScores constant{shares.expand({rows.size(), shares.size(0)}).contiguous(), target};
  std::vector<BaselineResult> results{
      {"majority", class_metrics(constant, torch::full_like(target, counts.argmax().item()))}};
  if (inputs.empty() || !kLogisticBaseline.is_in(fitted)) return results;
  const at::Tensor outputs = kLogisticBaseline.outputs(inputs, fitted);  // [N, O]
  const at::Tensor scores = outputs.size(1) == 1
                                ? torch::cat({(-outputs).sigmoid(), outputs.sigmoid()}, 1)
                                : outputs.softmax(1);  // [N, C]
  results.push_back({LinearBaseline::title("logistic regression", inputs),
                     class_metrics({scores, target}, predicted_classes(scores))});
  return results;
}

void ClassesOutput::check_options(bool has_validation) const {
  require(options_->threshold.empty() || classes().size() == 2, ErrorKind::InvalidArgument,
          "threshold ", options_->threshold, ": separates two classes; this run ",
          classes().empty() ? "predicts a number" : concat("has ", classes().size()));
  options_->check_threshold(has_validation);
}

bool ClassesOutput::fit_answers(Model& model, const Dataset& validation) {
  temperature_ = 1;
  threshold_.reset();
  check_options(validation.size() > 0);
  if (validation.size() == 0) return false;
  const ClassScores scored = measure_scores(model, validation, {}).scored;
  if (has_nan(scored.scores)) return false;
  const at::Tensor target = scored.target.to(at::kLong);
  if (options_->calibrate && can_calibrate() && validation.size() >= kRowsToCalibrate)
    temperature_ = fit_temperature(scored.scores, target);
  if (!options_->threshold.empty())
    threshold_ =
        ThresholdRule(options_->threshold).choose(calibrated(scored.scores).select(1, 1), target);
  return false;
}

Json ClassesOutput::fitted_answers() const {
  Json json{{"temperature", temperature_}};
  if (threshold_) json["threshold"] = {{"rule", options_->threshold}, {"value", *threshold_}};
  return json;
}

bool ClassesOutput::restore_answers(const std::optional<Field>& fitted) {
  temperature_ = restore_temperature(fitted);
  threshold_.reset();
  if (options_->threshold.empty()) return true;
  check_options(/*has_validation=*/true);
  const ThresholdRule rule(options_->threshold);
  if (rule.is_fixed()) {
    threshold_ = rule.choose({}, {});
    return true;
  }
  const auto known = fitted ? fitted->find("threshold") : std::nullopt;
  if (!known || known->at("rule").text() != options_->threshold) return false;
  threshold_ = known->at("value").finite();
  known->at("value").expect(*threshold_ >= 0 && *threshold_ <= 1, "a number from 0 to 1");
  return true;
}

void ClassesOutput::finish(const Model&, std::span<const Example>,
                           std::vector<Prediction>& predictions) const {
  for (Prediction& prediction : predictions)
    if (prediction.scores.defined()) prediction.scores = calibrated(prediction.scores);
}

std::string ClassesOutput::truth(const Dataset& rows, int64_t row) const {
  const auto right = rows.batch({&row, 1}).at("target").item<int64_t>();
  return right >= 0 && right < int64_t(classes().size()) ? classes()[size_t(right)] : "";
}

Json ClassesOutput::answer(const Example&, const Prediction& prediction) const {
  const int64_t chosen = threshold_ ? prediction.scores[1].item<double>() >= *threshold_
                                    : prediction.scores.argmax().item<int64_t>();
  const std::string& best = classes()[size_t(chosen)];
  Json scores = Json::object();
  for (size_t c = 0; c < classes().size(); ++c)
    scores[classes()[c]] = prediction.scores[int64_t(c)].item<double>();
  Json json{{"class", best}, {"probability", scores[best]}, {"scores", scores}};
  if (threshold_) json["threshold"] = *threshold_;
  return json;
}

std::string ClassesOutput::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

Json ClassesOutput::answer_row(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  Json row{{"prediction", json["class"]}, {"probability", json["probability"]}};
  for (const auto& [name, probability] : json["scores"].items()) row["p_" + name] = probability;
  return row;
}

std::vector<RowAnswer> ClassesOutput::judge_rows(const PredictedRows& rows) const {
  const at::Tensor target = rows.batch.at("target").to(at::kCPU, at::kLong).contiguous();  // [B]
  std::vector<RowAnswer> judged;
  for (size_t i = 0; i < rows.size(); ++i) {
    const at::Tensor scores = rows.predictions[i].scores.to(at::kCPU, at::kDouble);  // [C]
    const auto answer = chosen_classes(scores.unsqueeze(0)).item<int64_t>();
    const int64_t truth = target.data_ptr<int64_t>()[i];
    RowAnswer row;
    row.answer_classes = {answer};
    row.truth_classes = {truth};
    row.probability = scores[answer].item<double>();
    row.surprisal = -std::log(scores[truth].item<double>());
    row.right = answer == truth;
    judged.push_back(std::move(row));
  }
  return judged;
}

std::string ClassesOutput::headline(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), " (", format_number(json["probability"], 3), ")");
}

}  // namespace fovea
