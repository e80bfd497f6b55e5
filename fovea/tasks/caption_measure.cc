// How well captions are written, and whether words look at what they name.
#include <cmath>

#include "fovea/metrics/sequences.h"
#include "fovea/tasks/caption.h"
#include "fovea/tasks/generation.h"

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

}  // namespace

Metrics CaptionTask::measure(const Model& model, const Dataset& rows) const {
  const auto& captions = dynamic_cast<const CaptionDataset&>(rows);
  RowsToWrite pictures{rows, kWordsTogether, [&](int64_t row) { return captions.references(row); },
                       [&](int64_t row) { return captions.target_ids(row); }};
  if (captions.has_truth()) pictures.truth = [&](int64_t row) { return captions.truth(row); };
  const GeneratedRows written = write_rows(model, pictures, *coding_.tokeniser, progress);
  Metrics metrics{{"loss", written.nats / written.symbols},
                  {"perplexity", perplexity(written.nats, int64_t(written.symbols))},
                  {"exact_match", written.exact_match(), true}};
  const Bleu bleu = corpus_bleu(written.outputs, written.references);
  const std::vector<double> orders = bleu_of_orders(bleu);
  for (size_t i = 0; i < orders.size(); ++i)
    metrics.push_back({concat("bleu_", i + 1), orders[i], true});
  written.add_truth(metrics);
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
