// How well a model writes the targets of pairs: decoded side by side, measured as texts.
#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/sequences.h"
#include "fovea/tasks/length_buckets.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/pairs_task.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

// Attention is held against the planted truth on about so many rows.
constexpr int64_t kRowsOfTruth = 1000;

/// Rows cut into batches of similar source length, for decoding.
std::vector<std::vector<int64_t>> batches_by_length(const PairDataset& rows, int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(rows.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t left, int64_t right) {
    return rows.source_length(left) < rows.source_length(right);
  });
  std::vector<std::vector<int64_t>> batches;
  for (size_t begin = 0; begin < order.size(); begin += size_t(size))
    batches.emplace_back(order.begin() + int64_t(begin),
                         order.begin() + int64_t(std::min(order.size(), begin + size_t(size))));
  return batches;
}

std::vector<int64_t> without_end(std::vector<int64_t> tokens) {
  if (!tokens.empty() && tokens.back() == Vocabulary::kEnd) tokens.pop_back();
  return tokens;
}

}  // namespace

PairsTask::Outcome PairsTask::decode(const Model& model, const PairDataset& rows) const {
  const auto& writer = dynamic_cast<const SequenceModel&>(model);
  const bool cpu = model.device().is_cpu();
  const auto batches = batches_by_length(rows, cpu ? 64 : 512);
  Outcome outcome;
  const auto count = static_cast<size_t>(rows.size());
  outcome.outputs.resize(count);
  outcome.references.resize(count);
  outcome.output_tokens.resize(count);
  outcome.target_tokens.resize(count);
  outcome.source_lengths.resize(count);
  std::vector<double> nats(batches.size()), truth_sum(batches.size()), truth_rows(batches.size());
  std::vector<int64_t> symbols(batches.size());
  // Batches are sorted by length: evenly spaced ones stand for all lengths.
  const int64_t truth_step = (rows.size() + kRowsOfTruth - 1) / kRowsOfTruth;
  std::mutex reporting;
  int64_t rows_done = 0;
  const auto do_batch = [&](int64_t index) {
    torch::NoGradGuard no_gradients;
    const auto at = static_cast<size_t>(index);
    const std::vector<int64_t>& picked = batches[at];
    const Batch batch = rows.batch(picked).to(model.device());
    const Predictions answers = model.predict(batch);
    std::tie(nats[at], symbols[at]) = writer.negative_log_likelihood(batch);
    std::vector<Example> examples;
    std::vector<Prediction> predictions;
    for (size_t i = 0; i < picked.size(); ++i) {
      examples.push_back(rows.example(picked[i]));
      predictions.push_back(answers.at(int64_t(i)));
    }
    finish(model, examples, predictions);
    for (size_t i = 0; i < picked.size(); ++i) {
      const auto row = static_cast<size_t>(picked[i]);
      outcome.outputs[row] = predictions[i].outputs[0].text;
      outcome.references[row] = rows.references(picked[i]);
      outcome.output_tokens[row] = without_end(predictions[i].outputs[0].tokens);
      outcome.target_tokens[row] = without_end(rows.target_ids(picked[i]));
      outcome.source_lengths[row] = rows.source_length(picked[i]);
    }
    if (progress) {
      const std::lock_guard lock(reporting);
      progress(rows_done += int64_t(picked.size()));
    }
    if (!rows.has_truth() || index % truth_step != 0) return;
    // Teacher-forced with the right output: only that has a planted truth.
    Predictions right;
    for (const int64_t row : picked) right.outputs.push_back({{rows.target_ids(row), 0, ""}});
    Tap tap;
    model.replay(batch, right, &tap);
    if (!has_map(tap, "attention")) return;
    const at::Tensor weights = tap.map("attention").weights.mean(1).cpu();  // [B, T, S]
    at::Tensor keep = torch::zeros(weights.sizes(), torch::kBool);
    for (size_t i = 0; i < picked.size(); ++i) {
      const at::Tensor own = rows.truth(picked[i]);  // [T, S]
      keep[int64_t(i)].narrow(0, 0, own.size(0)).narrow(1, 0, own.size(1)).copy_(own);
    }
    if (const auto share = attention_truth(weights.flatten(0, 1), keep.flatten(0, 1))) {
      truth_rows[at] = keep.any(-1).sum().item<double>();
      truth_sum[at] = *share * truth_rows[at];
    }
  };
  if (cpu) {
    run_parallel(static_cast<int64_t>(batches.size()), do_batch);
  } else {
    for (size_t i = 0; i < batches.size(); ++i) do_batch(int64_t(i));
  }
  for (size_t i = 0; i < batches.size(); ++i) {  // in this order, whatever thread was first
    outcome.nats += nats[i];
    outcome.symbols += symbols[i];
    outcome.truth_sum += truth_sum[i];
    outcome.truth_rows += truth_rows[i];
  }
  return outcome;
}

Metrics PairsTask::measure(const Model& model, const Dataset& rows) const {
  const Outcome outcome = decode(model, dynamic_cast<const PairDataset&>(rows));
  std::vector<Symbols> output_characters, target_characters;
  for (size_t i = 0; i < outcome.outputs.size(); ++i) {
    output_characters.push_back(code_points(outcome.outputs[i]));
    target_characters.push_back(code_points(outcome.references[i][0]));
  }
  Metrics metrics{
      {"loss", outcome.nats / double(outcome.symbols)},
      {"perplexity", perplexity(outcome.nats, outcome.symbols)},
      {"exact_match", exact_match(output_characters, target_characters), true},
      {"token_accuracy", position_accuracy(outcome.output_tokens, outcome.target_tokens), true},
      {"character_accuracy", position_accuracy(output_characters, target_characters), true},
      {"edit_distance", error_rate(output_characters, target_characters)}};
  if (is_translation()) {
    metrics.push_back({"bleu", corpus_bleu(outcome.outputs, outcome.references).score, true});
    metrics.push_back({"chrf", corpus_chrf(outcome.outputs, outcome.references), true});
  }
  if (outcome.truth_rows > 0)
    metrics.push_back({"attention_truth", outcome.truth_sum / outcome.truth_rows, true});
  return metrics;
}

std::vector<std::string> PairsTask::metric_notes(const Dataset& rows) const {
  if (!is_translation()) return {};
  const auto& pairs = dynamic_cast<const PairDataset&>(rows);
  std::vector<References> references;
  for (int64_t row = 0; row < pairs.size(); ++row) references.push_back(pairs.references(row));
  return {"bleu: " + bleu_signature(references)};
}

LengthCurve PairsTask::measure_by_length(const Model& model, const Dataset& rows) const {
  const Outcome outcome = decode(model, dynamic_cast<const PairDataset&>(rows));
  LengthCurve curve;
  curve.metric = is_translation() ? "bleu" : "exact_match";
  curve.length = "source tokens";
  for (const LengthBucket& bucket : length_buckets(outcome.source_lengths)) {
    std::vector<std::string> outputs;
    std::vector<References> references;
    double right = 0;
    for (const size_t row : bucket.rows) {
      outputs.push_back(outcome.outputs[row]);
      references.push_back(outcome.references[row]);
      right += outcome.outputs[row] == outcome.references[row][0];
    }
    curve.buckets.push_back(bucket.label);
    curve.counts.push_back(int64_t(bucket.rows.size()));
    curve.values.push_back(bucket.rows.empty() ? std::numeric_limits<double>::quiet_NaN()
                           : is_translation()  ? corpus_bleu(outputs, references).score
                                               : right / double(bucket.rows.size()));
  }
  return curve;
}

}  // namespace fovea
