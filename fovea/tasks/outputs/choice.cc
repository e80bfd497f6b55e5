#include "fovea/tasks/outputs/choice.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/metrics/calibration.h"
#include "fovea/metrics/classification.h"
#include "fovea/tasks/outputs/classes.h"
#include "fovea/tasks/outputs/word_overlap.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kTokensOfBatch = 8192;

/// Probabilities of the choices of each row.
using Scores = std::vector<std::vector<double>>;

struct ScoredRows {
  Scores scores;
  std::vector<int64_t> target;
};

ScoredRows score_choices(const Model& model, const Dataset& rows, const RowProgress& progress) {
  ScoredRows all{Scores(size_t(rows.size())), std::vector<int64_t>(size_t(rows.size()))};
  over_rows(
      model, rows, kTokensOfBatch,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const Predictions predictions = model.predict(batch);
        const at::Tensor target = batch.at("target").cpu();
        for (size_t i = 0; i < picked.size(); ++i) {
          std::vector<double>& own = all.scores[size_t(picked[i])];
          own.resize(predictions.outputs[i].size());
          for (const Decoded& choice : predictions.outputs[i])
            own.at(size_t(choice.tokens.at(0))) = std::exp(choice.log_probability);
          all.target[size_t(picked[i])] = target[int64_t(i)].item<int64_t>();
        }
      },
      progress);
  return all;
}

/// Probabilities [N, C] with 0 for choices that a row does not have, and which ones it has.
struct PaddedScores {
  at::Tensor scores, possible, target;
};

PaddedScores padded(const ScoredRows& rows) {
  size_t most = 2;
  for (const auto& own : rows.scores) most = std::max(most, own.size());
  const auto count = int64_t(rows.scores.size()), choices = int64_t(most);
  PaddedScores all{at::zeros({count, choices}, at::kDouble), at::zeros({count, choices}, at::kBool),
                   at::tensor(rows.target, at::kLong)};
  for (int64_t row = 0; row < count; ++row) {
    const std::vector<double>& own = rows.scores[size_t(row)];
    std::copy(own.begin(), own.end(), all.scores.data_ptr<double>() + row * choices);
    std::fill_n(all.possible.data_ptr<bool>() + row * choices, own.size(), true);
  }
  return all;
}

void calibrate(std::vector<double>& scores, double temperature) {
  if (temperature == 1 || scores.empty()) return;
  const at::Tensor scaled = with_temperature(at::tensor(scores, at::kDouble), temperature);
  std::copy_n(scaled.data_ptr<double>(), scores.size(), scores.begin());
}

bool has_nan(const ScoredRows& rows) {
  for (const auto& own : rows.scores)
    for (const double score : own)
      if (std::isnan(score)) return true;
  return false;
}

/// Equal ones share the point.
double share_of_best(const std::vector<double>& scores, int64_t target) {
  const double best = *std::max_element(scores.begin(), scores.end());
  const auto ties = double(std::count(scores.begin(), scores.end(), best));
  return scores.at(size_t(target)) == best ? 1 / ties : 0;
}

/// Ties count as a choice among them by chance.
std::vector<BaselineResult> simple_rules(const Dataset& rows, const ScoredRows& scored) {
  double chance = 0, longest = 0, overlapping = 0, surprise = 0;
  for (int64_t row = 0; row < rows.size(); ++row) {
    const Json input = rows.input(row);
    const std::set<std::string> asked =
        different_words(input.value("context", "") + " " + input.value("question", ""));
    std::vector<double> lengths, shared;
    for (const Json& choice : input.at("choices")) {
      const auto text = choice.get<std::string>();
      lengths.push_back(double(count_code_points(text)));
      shared.push_back(share_of_words(text, asked));
    }
    const int64_t target = scored.target[size_t(row)];
    chance += 1 / double(lengths.size());
    surprise += std::log(double(lengths.size()));
    longest += share_of_best(lengths, target);
    overlapping += share_of_best(shared, target);
  }
  const double count = std::max(1.0, double(rows.size()));
  return {{"chance", {{"accuracy", chance / count, true}, {"log_loss", surprise / count}}},
          {"longest choice", {{"accuracy", longest / count, true}}},
          {"most words of the question", {{"accuracy", overlapping / count, true}}}};
}

}  // namespace

void ChoiceOptions::describe(OptionList& list) {
  list.add("calibrate", calibrate,
           "probabilities by temperature scaling, fitted on the validation rows after training");
}

Metrics ChoiceOutput::measure(const Model& model, const Dataset& rows,
                              const RowProgress& progress) const {
  const PaddedScores all = padded(score_choices(model, rows, progress));
  Metrics metrics{{"loss", log_loss(all.scores, all.target)},
                  {"accuracy", accuracy(all.scores, all.target), true}};
  add_attention_truth(model, rows, {{"attention"}}, metrics);
  return metrics;
}

Evaluation ChoiceOutput::evaluate(const Model& model, const Dataset& rows,
                                  const RowProgress& progress) const {
  ScoredRows scored = score_choices(model, rows, progress);
  const PaddedScores raw = padded(scored);
  Evaluation evaluation;
  evaluation.metrics = {{"loss", log_loss(raw.scores, raw.target)},
                        {"accuracy", accuracy(raw.scores, raw.target), true}};
  evaluation.main = "accuracy";
  add_attention_truth(model, rows, {{"attention"}}, evaluation.metrics);
  if (has_nan(scored)) return evaluation;  // of a training that diverged
  for (auto& own : scored.scores) calibrate(own, temperature());
  const PaddedScores all = padded(scored);
  const at::Tensor shares = all.scores.clamp(0, 1);
  evaluation.merge({{"log_loss", log_loss(shares, all.target)},
                    {"brier", brier_score_of_classes(shares, all.target)},
                    {"calibration_error", calibration_error_of_classes(shares, all.target)}});
  evaluation.interval = wilson_interval(evaluation.find("accuracy")->value, rows.size());
  if (temperature() != 1) {
    evaluation.temperature = temperature();
    evaluation.uncalibrated_error =
        calibration_error_of_classes(raw.scores.clamp(0, 1), raw.target);
  }
  evaluation.baselines = simple_rules(rows, scored);
  return evaluation;
}

bool ChoiceOutput::fit_answers(Model& model, const Dataset& validation) {
  temperature_ = 1;
  if (!options_.calibrate || validation.size() < kRowsToCalibrate) return false;
  const ScoredRows scored = score_choices(model, validation, {});
  if (has_nan(scored)) return false;
  const PaddedScores all = padded(scored);
  temperature_ = fit_temperature(all.scores, all.target, all.possible);
  return false;
}

bool ChoiceOutput::restore_answers(const std::optional<Field>& fitted) {
  temperature_ = restore_temperature(fitted);
  return true;
}

void ChoiceOutput::finish(const Model&, std::span<const Example> examples,
                          std::vector<Prediction>& predictions) const {
  for (size_t i = 0; i < predictions.size(); ++i) {
    const std::vector<std::string>& choices = examples[i].axis("choices").labels;
    std::vector<double> scores;
    for (Decoded& output : predictions[i].outputs) {
      output.text = choices.at(size_t(output.tokens.at(0)));
      scores.push_back(std::exp(output.log_probability));
    }
    if (temperature() == 1) continue;
    calibrate(scores, temperature());  // keeps their order
    for (size_t c = 0; c < scores.size(); ++c)
      predictions[i].outputs[c].log_probability = std::log(scores[c]);
  }
}

Json ChoiceOutput::answer(const Example&, const Prediction& prediction) const {
  const Decoded& best = prediction.outputs.at(0);
  Json probabilities = Json::array();
  for (size_t c = 0; c < prediction.outputs.size(); ++c) probabilities.push_back(0.0);
  for (const Decoded& output : prediction.outputs)
    probabilities.at(size_t(output.tokens.at(0))) = std::exp(output.log_probability);
  return {{"choice", best.text},
          {"index", best.tokens.at(0)},
          {"probability", std::exp(best.log_probability)},
          {"probabilities", probabilities}};
}

std::string ChoiceOutput::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  std::vector<std::string> all;
  for (const Json& probability : json["probabilities"])
    all.push_back(format_number(probability.get<double>(), 6));
  return concat(json["choice"].get<std::string>(), "\t", join(all, "\t"));
}

Json ChoiceOutput::answer_row(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  Json row{{"prediction", json["choice"]},
           {"index", json["index"]},
           {"probability", json["probability"]}};
  for (size_t c = 0; c < json["probabilities"].size(); ++c)
    row[concat("p_", c)] = json["probabilities"][c];
  return row;
}

std::vector<RowAnswer> ChoiceOutput::judge_rows(const PredictedRows& rows) const {
  const at::Tensor target = rows.batch.at("target").to(at::kCPU, at::kLong);  // [B]
  std::vector<RowAnswer> judged;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto truth = target[int64_t(i)].item<int64_t>();
    const std::vector<Decoded>& outputs = rows.predictions[i].outputs;
    RowAnswer row;
    row.answer = outputs.at(0).text;
    row.truth = rows.examples[i].axis("choices").labels.at(size_t(truth));
    row.probability = std::exp(outputs[0].log_probability);
    for (const Decoded& output : outputs)
      if (output.tokens.at(0) == truth) row.surprisal = -output.log_probability;
    row.right = outputs[0].tokens.at(0) == truth;
    judged.push_back(std::move(row));
  }
  return judged;
}

std::string ChoiceOutput::headline(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["choice"].get<std::string>(), " (", format_number(json["probability"], 3),
                ")");
}

}  // namespace fovea
