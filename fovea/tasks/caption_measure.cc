// How well captions are written, and whether words look at what they name.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "fovea/core/torch.h"
#include "fovea/metrics/sequences.h"
#include "fovea/tasks/caption.h"
#include "fovea/tasks/over_rows.h"

namespace fovea {

namespace {

constexpr int64_t kWordsTogether = 1024;  // of a batch that is measured
constexpr int kOrders = 4;

/// BLEU-n of each n up to 4: the brevity penalty times the geometric mean of the first n
/// precisions, 0 … 100. BLEU-4 is the usual BLEU.
std::vector<double> bleu_of_orders(const Bleu& bleu) {
  std::vector<double> scores;
  double log_sum = 0;
  for (int order = 1; order <= kOrders; ++order) {
    log_sum += std::log(bleu.precisions[size_t(order - 1)]);
    scores.push_back(bleu.brevity_penalty * std::exp(log_sum / order));
  }
  return scores;
}

/// Sums over the words that name something.
struct Pointing {
  double pointed = 0, on_named = 0, named = 0;
};

/// weights [T, cells], truth bool [T, cells].
Pointing pointing_of(const at::Tensor& weights, const at::Tensor& truth) {
  const at::Tensor names = truth.any(1);                                // [T]
  const at::Tensor most = weights.argmax(1, true);                      // [T, 1]
  const at::Tensor pointed = truth.gather(1, most).squeeze(1) & names;  // [T]
  const at::Tensor inside = (weights * truth).sum(1) / weights.sum(1);  // [T]
  return {pointed.sum().item<double>(), (inside * names).sum().item<double>(),
          names.sum().item<double>()};
}

}  // namespace

CaptionTask::Outcome CaptionTask::decode(const Model& model, const CaptionDataset& rows) const {
  const auto& writer = dynamic_cast<const SequenceModel&>(model);
  const auto count = static_cast<size_t>(rows.size());
  const bool has_truth = rows.has_truth();
  Outcome outcome;
  outcome.outputs.resize(count);
  outcome.references.resize(count);
  std::vector<Pointing> pointing(count);
  std::vector<std::pair<double, double>> nats(count);  // of a batch, where its first row is
  over_rows(
      model, rows, kWordsTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const Predictions answers = model.predict(batch);
        const auto [sum, symbols] = writer.negative_log_likelihood(batch);
        nats[size_t(picked[0])] = {sum, double(symbols)};
        for (size_t i = 0; i < picked.size(); ++i) {
          const auto row = size_t(picked[i]);
          outcome.outputs[row] = text_of(answers.outputs[i].at(0).tokens);
          outcome.references[row] = rows.references(picked[i]);
        }
        if (!has_truth) return;
        // Teacher-forced with the right caption: only that has a planted truth.
        Predictions right;
        for (const int64_t row : picked) right.outputs.push_back({{rows.target_ids(row), 0, ""}});
        Tap tap;
        model.replay(batch, right, &tap);
        if (!has_map(tap, "attention")) return;
        const at::Tensor weights = tap.map("attention").weights.squeeze(1).cpu();  // [B, T, cells]
        for (size_t i = 0; i < picked.size(); ++i) {
          const at::Tensor truth = rows.truth(picked[i]);  // [T, cells]
          pointing[size_t(picked[i])] =
              pointing_of(weights[int64_t(i)].narrow(0, 0, truth.size(0)), truth);
        }
      },
      progress);
  for (size_t row = 0; row < count; ++row) {  // in this order, whatever thread was first
    outcome.nats += nats[row].first;
    outcome.symbols += nats[row].second;
    outcome.pointed += pointing[row].pointed;
    outcome.on_named += pointing[row].on_named;
    outcome.named += pointing[row].named;
  }
  return outcome;
}

Metrics CaptionTask::measure(const Model& model, const Dataset& rows) const {
  const Outcome outcome = decode(model, dynamic_cast<const CaptionDataset&>(rows));
  double right = 0;
  for (size_t i = 0; i < outcome.outputs.size(); ++i)
    right += std::count(outcome.references[i].begin(), outcome.references[i].end(),
                        outcome.outputs[i]) > 0;
  Metrics metrics{{"loss", outcome.nats / outcome.symbols},
                  {"perplexity", perplexity(outcome.nats, int64_t(outcome.symbols))},
                  {"exact_match", right / double(outcome.outputs.size()), true}};
  const Bleu bleu = corpus_bleu(outcome.outputs, outcome.references);
  const std::vector<double> orders = bleu_of_orders(bleu);
  for (size_t i = 0; i < orders.size(); ++i)
    metrics.push_back({concat("bleu_", i + 1), orders[i], true});
  if (outcome.named > 0) {
    metrics.push_back({"pointing", outcome.pointed / outcome.named, true});
    metrics.push_back({"attention_truth", outcome.on_named / outcome.named, true});
  }
  return metrics;
}

std::vector<std::string> CaptionTask::metric_notes(const Dataset& rows) const {
  const auto& captions = dynamic_cast<const CaptionDataset&>(rows);
  std::vector<References> references;
  for (int64_t row = 0; row < rows.size(); ++row) references.push_back(captions.references(row));
  std::vector<std::string> notes;
  notes.push_back(concat("bleu: ", bleu_signature(references),
                         "; bleu_n has the n-gram orders up to n, with the brevity penalty"));
  if (captions.has_truth())
    notes.push_back(concat(
        "pointing: share of the words that name something whose most attended cell shows it; ",
        "attention_truth: share of their attention on its cells; both for the right caption"));
  return notes;
}

}  // namespace fovea
