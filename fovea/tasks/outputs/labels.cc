#include "fovea/tasks/outputs/labels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/metrics/calibration.h"
#include "fovea/metrics/labels.h"
#include "fovea/metrics/threshold.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr const char *kLabelCounts = "label_counts", *kRestThresholds = "one_vs_rest.thresholds";
const LinearBaseline kOneVsRestBaseline{"one_vs_rest"};
constexpr double kUsualThreshold = 0.5;

/// Probabilities [N, C] as those of "no" and "yes": [N C, 2].
Tensor as_two_classes(const Tensor& scores) {
  const Tensor yes = scores.to(at::kDouble).clamp(0, 1).flatten();
  return torch::stack({1 - yes, yes}, 1);
}

/// Of each label the rule's choice; the usual one where the rows do not decide. [C]
std::vector<double> choose_thresholds(const ThresholdRule& rule, const LabelScores& scored) {
  std::vector<double> thresholds;
  for (int64_t c = 0; c < scored.scores.size(1); ++c) {
    const Tensor target = scored.target.select(1, c).to(at::kLong);
    const auto positives = target.sum().item<int64_t>();
    const bool decides = rule.is_fixed() || (positives > 0 && positives < target.size(0));
    double own = kUsualThreshold;
    try {
      if (decides) own = rule.choose(scored.scores.select(1, c), target);
    } catch (const Error&) {  // no threshold reaches the wanted precision
    }
    thresholds.push_back(own);
  }
  return thresholds;
}

/// Without a value that metrics would have no name for.
double or_nan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Metrics label_metrics(const LabelScores& scored, const Tensor& predicted) {
  const auto& [scores, target] = scored;
  const LabelCounts counts = count_labels(predicted, target);
  const LabelRanking ranking = rank_labels(scores, target);
  return {{"micro_f1", counts.micro_f1(), true},
          {"macro_f1", counts.macro_f1(), true},
          {"subset_accuracy", subset_accuracy(predicted, target), true},
          {"hamming_loss", hamming_loss(predicted, target)},
          {"lrap", ranking.average_precision, true},
          {"coverage_error", ranking.coverage_error},
          {"ranking_loss", ranking.ranking_loss},
          {"mean_average_precision", or_nan(mean_average_precision(scores, target)), true}};
}

LabelScores LabelsOutput::score(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const {
  const auto labels = int64_t(labels_().size());
  const LabelScores all{torch::zeros({rows.size(), labels}), torch::zeros({rows.size(), labels})};
  over_rows(
      model, rows, units_,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        put_rows(picked, model.predict(batch).scores, all.scores);
        put_rows(picked, batch.at("target"), all.target);
      },
      progress);
  return all;
}

Tensor LabelsOutput::calibrated(const Tensor& scores) const {
  if (!options_->calibrate || temperature_ == 1) return scores;
  return with_temperature(as_two_classes(scores), temperature_)
      .select(-1, 1)
      .view(scores.sizes())
      .to(scores.scalar_type());
}

Tensor LabelsOutput::thresholds() const {
  return thresholds_.empty()
             ? torch::full({int64_t(labels_().size())}, kUsualThreshold, at::kDouble)
             : torch::tensor(thresholds_, at::kDouble);
}

Tensor LabelsOutput::chosen(const Tensor& scores) const {
  return scores.to(at::kDouble).ge(thresholds());
}

std::string LabelsOutput::rule() const {
  return options_->threshold.empty() ? "f1" : options_->threshold;
}

Metrics LabelsOutput::measure(const Model& model, const Dataset& rows,
                              const RowProgress& progress) const {
  const LabelScores scored = score(model, rows, progress);
  Metrics metrics{{"loss", label_log_loss(scored.scores, scored.target)}};
  const LabelScores answers{calibrated(scored.scores), scored.target};
  for (Metric& metric : label_metrics(answers, chosen(answers.scores)))
    metrics.push_back(std::move(metric));
  add_truth(model, rows, metrics);
  return metrics;
}

ErrorTable LabelsOutput::by_label(const LabelScores& scored, const Tensor& predicted) const {
  ErrorTable table{"label",
                   {"precision", "recall", "f1", "support", "average_precision", "threshold"}};
  const std::vector<ClassReport> reports = count_labels(predicted, scored.target).reports();
  const Tensor limits = thresholds();
  for (size_t c = 0; c < reports.size(); ++c) {
    const auto at = int64_t(c);
    table.names.push_back(labels_()[c]);
    table.rows.push_back(
        {reports[c].precision, reports[c].recall, reports[c].f1, double(reports[c].support),
         or_nan(average_precision(scored.scores.select(1, at), scored.target.select(1, at))),
         limits[at].item<double>()});
  }
  return table;
}

Evaluation LabelsOutput::evaluate(const Model& model, const Dataset& rows,
                                  const RowProgress& progress) const {
  const LabelScores scored = score(model, rows, progress);
  Evaluation evaluation;
  evaluation.metrics = {{"loss", label_log_loss(scored.scores, scored.target)}};
  evaluation.main = "macro_f1";
  if (scored.scores.isnan().any().item<bool>()) return evaluation;  // of a training that diverged
  const LabelScores answers{calibrated(scored.scores), scored.target};
  const Tensor predicted = chosen(answers.scores).to(at::kDouble);
  evaluation.merge(label_metrics(answers, predicted));
  add_truth(model, rows, evaluation.metrics);
  const Tensor target = scored.target.to(at::kDouble);
  evaluation.interval =
      bootstrap_interval(rows.size(), [&](std::span<const double> times) -> std::optional<double> {
        return count_labels(predicted, target, times).macro_f1();
      });
  evaluation.errors.push_back(by_label(answers, predicted));
  if (!thresholds_.empty()) evaluation.threshold_rule = rule();
  return evaluation;
}

NamedTensors LabelsOutput::fit_baselines(const Dataset& train, const LinearInputs& inputs) const {
  constexpr int64_t kHeld = 5;  // every fifth row chooses the thresholds
  if (train.size() == 0) return {};
  const Tensor target = targets_of(train);  // [N, C]
  NamedTensors fitted{
      {kLabelCounts,
       torch::cat({target.sum(0), torch::tensor({double(train.size())}, at::kDouble)})}};
  if (inputs.empty() || train.size() < 2 * kHeld) return fitted;
  const LinearInputs seen = kOneVsRestBaseline.learn_inputs(inputs, fitted);
  std::vector<int64_t> learned, held;
  for (int64_t row = 0; row < train.size(); ++row)
    (row % kHeld == kHeld - 1 ? held : learned).push_back(row);
  const LinearModel linear =
      fit_linear(select_rows(seen, learned), target.index_select(0, torch::tensor(learned)),
                 {LinearLoss::Labels, target.size(1)});
  const LabelScores judged{linear.outputs(select_rows(seen, held)).sigmoid(),
                           target.index_select(0, torch::tensor(held))};
  kOneVsRestBaseline.put(linear, fitted);
  fitted[kRestThresholds] =
      torch::tensor(choose_thresholds(ThresholdRule("f1"), judged), at::kDouble);
  return fitted;
}

std::vector<BaselineResult> LabelsOutput::measure_baselines(const NamedTensors& fitted,
                                                            const Dataset& rows,
                                                            const LinearInputs& inputs) const {
  if (fitted.count(kLabelCounts) == 0 || rows.size() == 0) return {};
  const Tensor target = targets_of(rows);  // [N, C]
  const Tensor all = fitted.at(kLabelCounts).to(at::kDouble);
  const int64_t labels = all.size(0) - 1;
  const Tensor shares = all.narrow(0, 0, labels) / all[labels];  // [C]
  // As many of the most frequent ones as a row has, rounded.
  const int64_t many = std::clamp<int64_t>(std::llround(shares.sum().item<double>()), 1, labels);
  Tensor frequent = torch::zeros({labels}, at::kDouble);
  frequent.index_fill_(0, std::get<1>(shares.topk(many)), 1);
  std::vector<BaselineResult> results{
      {"most frequent labels",
       label_metrics({shares.expand_as(target).contiguous(), target}, frequent.expand_as(target))}};
  if (inputs.empty() || !kOneVsRestBaseline.is_in(fitted)) return results;
  const Tensor scores = kOneVsRestBaseline.outputs(inputs, fitted).sigmoid();  // [N, C]
  results.push_back(
      {LinearBaseline::title("one-vs-rest", inputs),
       label_metrics({scores, target}, scores.to(at::kDouble).ge(fitted.at(kRestThresholds)))});
  return results;
}

void LabelsOutput::check_options(bool has_validation) const {
  options_->check_threshold(has_validation);
}

bool LabelsOutput::fit_answers(Model& model, const Dataset& validation) {
  temperature_ = 1;
  thresholds_.clear();
  check_options(validation.size() > 0);
  const ThresholdRule asked(rule());
  if (asked.is_fixed()) thresholds_.assign(labels_().size(), asked.choose({}, {}));
  if (validation.size() < kRowsToCalibrate) return false;
  const LabelScores scored = score(model, validation, {});
  if (scored.scores.isnan().any().item<bool>()) return false;
  if (options_->calibrate && can_calibrate())
    temperature_ =
        fit_temperature(as_two_classes(scored.scores), scored.target.flatten().to(at::kLong));
  if (!asked.is_fixed())
    thresholds_ = choose_thresholds(asked, {calibrated(scored.scores), scored.target});
  return false;
}

Json LabelsOutput::fitted_answers() const {
  Json json{{"temperature", temperature_}};
  if (!thresholds_.empty()) json["thresholds"] = {{"rule", rule()}, {"values", thresholds_}};
  return json;
}

bool LabelsOutput::restore_answers(const std::optional<Field>& fitted) {
  temperature_ = restore_temperature(fitted);
  thresholds_.clear();
  const ThresholdRule asked(rule());
  if (asked.is_fixed()) {
    thresholds_.assign(labels_().size(), asked.choose({}, {}));
    return true;
  }
  const auto known = fitted ? fitted->find("thresholds") : std::nullopt;
  if (!known) return options_->threshold.empty();
  if (known->at("rule").text() != rule()) return false;
  const Field values = known->at("values");
  thresholds_ = values.finites(labels_().size());
  values.expect(std::ranges::all_of(thresholds_, [](double t) { return t >= 0 && t <= 1; }),
                "numbers from 0 to 1");
  return true;
}

void LabelsOutput::finish(const Model&, std::span<const Example>,
                          std::vector<Prediction>& predictions) const {
  for (Prediction& prediction : predictions)
    if (prediction.scores.defined()) prediction.scores = calibrated(prediction.scores);
}

std::string LabelsOutput::truth(const Dataset& rows, int64_t row) const {
  const Tensor right = rows.batch({&row, 1}).at("target")[0];  // [C]
  std::vector<std::string> names;
  for (size_t c = 0; c < labels_().size(); ++c)
    if (right[int64_t(c)].item<double>() > 0.5) names.push_back(labels_()[c]);
  return names.empty() ? "(none)" : join(names, "|");
}

Json LabelsOutput::answer(const Example&, const Prediction& prediction) const {
  const Tensor yes = chosen(prediction.scores);
  std::vector<std::pair<double, std::string>> given;
  Json json{{"labels", Json::array()}, {"scores", Json::object()}};
  for (size_t c = 0; c < labels_().size(); ++c) {
    const auto score = prediction.scores[int64_t(c)].item<double>();
    json["scores"][labels_()[c]] = score;
    if (yes[int64_t(c)].item<bool>()) given.emplace_back(-score, labels_()[c]);
  }
  std::ranges::stable_sort(given, {}, [](const auto& one) { return one.first; });
  for (const auto& [score, label] : given) json["labels"].push_back(label);
  return json;
}

std::string LabelsOutput::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  std::vector<std::string> shown;
  for (const Json& label : json["labels"]) {
    const auto name = label.get<std::string>();
    shown.push_back(concat(name, "\t", format_number(json["scores"][name], 4)));
  }
  return shown.empty() ? "(none)" : join(shown, "\t");
}

Json LabelsOutput::answer_row(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  Json row{{"prediction", join(json["labels"].get<std::vector<std::string>>(), "|")}};
  for (const auto& [name, probability] : json["scores"].items()) row["p_" + name] = probability;
  return row;
}

std::vector<RowAnswer> LabelsOutput::judge_rows(const PredictedRows& rows) const {
  const Tensor target = rows.batch.at("target").to(at::kCPU).gt(0.5);  // [B, C]
  const auto labels_in = [](const Tensor& yes) {
    return to_vector<int64_t>(yes.nonzero().flatten());
  };
  // ln p of a whole set
  const auto likelihood = [](const Tensor& scores, const Tensor& yes) {
    return torch::where(yes, scores, 1 - scores).log().sum().item<double>();
  };
  std::vector<RowAnswer> judged;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Tensor scores = rows.predictions[i].scores.to(at::kCPU, at::kDouble).clamp(0, 1);  // [C]
    const Tensor answer = chosen(scores), truth = target[int64_t(i)];
    RowAnswer row;
    row.answer_classes = labels_in(answer);
    row.truth_classes = labels_in(truth);
    row.probability = std::exp(likelihood(scores, answer));
    row.surprisal = -likelihood(scores, truth);
    row.distance = answer.ne(truth).sum().item<double>();
    row.right = row.distance == 0;
    judged.push_back(std::move(row));
  }
  return judged;
}

std::string LabelsOutput::headline(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  std::vector<std::string> shown;
  for (const Json& label : json["labels"]) {
    const auto name = label.get<std::string>();
    shown.push_back(concat(name, " (", format_number(json["scores"][name], 3), ")"));
  }
  return shown.empty() ? "no label" : join(shown);
}

}  // namespace fovea
