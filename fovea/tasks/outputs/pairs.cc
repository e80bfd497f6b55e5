#include "fovea/tasks/outputs/pairs.h"

#include <algorithm>
#include <limits>

#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/sequences.h"
#include "fovea/tasks/length_buckets.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kPairsTogether = 64;   // of a batch that is measured
constexpr int64_t kPairsOfTruth = 1000;  // attention is held against planted truth on about so many
constexpr size_t kCopiedTogether = 32;   // outputs whose attention is looked at
constexpr const char* kWordStart = "\u2581";  // marks the beginning of a word

}  // namespace

void PairsDecoding::describe(OptionList& list) {
  SearchOptions::describe(list);
  list.add("copy_unknown", copy_unknown,
           "a word that the vocabulary lacks is copied from where the decoder looked");
}

Metrics PairsOutput::text_metrics(const GeneratedRows& texts) const {
  std::vector<Symbols> outputs, targets;  // characters
  for (size_t i = 0; i < texts.outputs.size(); ++i) {
    outputs.push_back(code_points(texts.outputs[i]));
    targets.push_back(code_points(texts.references[i][0]));
  }
  Metrics metrics{{"exact_match", exact_match(outputs, targets), true},
                  {"character_accuracy", position_accuracy(outputs, targets), true},
                  {"edit_distance", error_rate(outputs, targets)}};
  if (is_translation_) {
    metrics.push_back({"bleu", corpus_bleu(texts.outputs, texts.references).score, true});
    metrics.push_back({"chrf", corpus_chrf(texts.outputs, texts.references), true});
  }
  return metrics;
}

void PairsOutput::add_metrics(const Model& model, const Dataset& rows, const GeneratedRows& all,
                              Metrics& metrics) const {
  metrics.push_back({"perplexity", perplexity(all.nats, all.tokens)});
  metrics.push_back(
      {"token_accuracy", position_accuracy(all.output_tokens, all.target_tokens), true});
  if (const auto share = attention_on_links(model, rows))
    metrics.push_back({"attention_truth", *share, true});
}

SummedMetric PairsOutput::main_sums(const GeneratedRows& all) const {
  SummedMetric bleu{{}, bleu_of_counts};
  for (size_t i = 0; is_translation_ && i < all.outputs.size(); ++i)
    bleu.rows.push_back(bleu_counts(all.outputs[i], all.references[i]));
  return bleu;
}

Evaluation PairsOutput::evaluate(const Model& model, const Dataset& rows,
                                 const RowProgress& progress) const {
  Evaluation evaluation = SequenceOutput::evaluate(model, rows, progress);
  if (!is_translation_) return evaluation;
  const AlignmentCounts counts = aligned_words(model, rows);
  if (const auto rate = counts.error_rate()) evaluation.metrics.push_back({"aer", *rate});
  return evaluation;
}

std::vector<std::string> PairsOutput::metric_notes(const Dataset& rows) const {
  if (!is_translation_) return {};
  std::vector<References> references;
  for (int64_t row = 0; row < rows.size(); ++row) references.push_back(rows.references(row));
  return {"bleu: " + bleu_signature(references)};
}

LengthCurve PairsOutput::measure_by_length(const Model& model, const Dataset& rows,
                                           const RowProgress& progress) const {
  const GeneratedRows all = generate(model, rows, progress);
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < rows.size(); ++row) lengths.push_back(rows.input_length(row));
  LengthCurve curve;
  curve.metric = is_translation_ ? "bleu" : "exact_match";
  curve.length = "source tokens";
  for (const LengthBucket& bucket : length_buckets(lengths)) {
    std::vector<std::string> outputs;
    std::vector<References> references;
    double right = 0;
    for (const size_t row : bucket.rows) {
      outputs.push_back(all.outputs[row]);
      references.push_back(all.references[row]);
      right += all.outputs[row] == all.references[row][0];
    }
    curve.buckets.push_back(bucket.label);
    curve.counts.push_back(int64_t(bucket.rows.size()));
    curve.values.push_back(bucket.rows.empty() ? std::numeric_limits<double>::quiet_NaN()
                           : is_translation_   ? corpus_bleu(outputs, references).score
                                               : right / double(bucket.rows.size()));
  }
  return curve;
}

void PairsOutput::finish(const Model& model, std::span<const Example> examples,
                         std::vector<Prediction>& predictions) const {
  std::vector<Unknown> unknown;
  for (size_t i = 0; i < predictions.size(); ++i)
    for (Decoded& output : predictions[i].outputs) {
      const bool has_unknown =
          target().joins_any_text() && std::ranges::count(output.tokens, unknown_symbol()) > 0;
      output.text =
          has_unknown ? target().join(pieces(output.tokens)) : target().decode(output.tokens);
      if (has_unknown && decoding_->copy_unknown) unknown.push_back({&examples[i], &output});
    }
  for (size_t begin = 0; begin < unknown.size(); begin += kCopiedTogether)
    copy_unknown(model, std::span(unknown).subspan(
                            begin, std::min(kCopiedTogether, unknown.size() - begin)));
}

RowBatches PairsOutput::batches(const Model& model, const Dataset& rows) const {
  return batches_of_rows(model, rows, kPairsTogether);
}

void PairsOutput::finish_rows(const Model& model, const Dataset& rows,
                              std::span<const int64_t> picked,
                              std::vector<Prediction>& predictions) const {
  std::vector<Example> examples;
  for (const int64_t row : picked) examples.push_back(rows.example(row));
  finish(model, examples, predictions);
}

std::vector<std::string> PairsOutput::pieces(const std::vector<int64_t>& tokens) const {
  std::vector<std::string> texts;
  for (const int64_t token : tokens)
    if (token != target().vocabulary().special().end)
      texts.push_back((token == unknown_symbol() ? word_start() : "") + label(token));
  return texts;
}

std::string PairsOutput::word_start() const {
  return target().kind() == "words" ? kWordStart : "";
}

void PairsOutput::copy_unknown(const Model& model, std::span<const Unknown> unknown) const {
  torch::NoGradGuard no_gradients;
  std::vector<Example> examples;
  Predictions chosen;
  for (const Unknown& one : unknown) {
    examples.push_back(*one.example);
    const auto& tokens = one.output->tokens;  // those behind the last unknown one do not matter
    const auto last = std::find(tokens.rbegin(), tokens.rend(), unknown_symbol()).base();
    chosen.outputs.push_back({{{tokens.begin(), last}, 0, ""}});
  }
  Tap tap(Record::OnDemand);
  model.replay(collate_(examples).to(model.device()), chosen, &tap);
  if (!has_map(tap, "attention")) return;
  const at::Tensor looked_at =
      dense_weights(tap.map("attention")).mean(1).argmax(-1).cpu();  // [B, T]
  for (size_t row = 0; row < unknown.size(); ++row) {
    Decoded& output = *unknown[row].output;
    const std::vector<std::string>& labels = examples[row].axis("source").labels;
    std::vector<std::string> texts = pieces(output.tokens);
    const int64_t* place = looked_at[int64_t(row)].data_ptr<int64_t>();
    for (size_t t = 0; t < texts.size(); ++t)
      if (output.tokens[t] == unknown_symbol() && size_t(place[t]) < labels.size())
        texts[t] = word_start() + labels[size_t(place[t])];
    output.text = target().join(texts);
  }
}

std::optional<double> PairsOutput::attention_on_links(const Model& model,
                                                      const Dataset& rows) const {
  if (!rows.has_truth()) return {};
  // Batches are sorted by length: evenly spaced ones stand for all lengths.
  const auto step = size_t((rows.size() + kPairsOfTruth - 1) / kPairsOfTruth);
  const RowBatches all = batches(model, rows);
  RowBatches some;
  for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  std::vector<double> sums(some.size()), counts(some.size());
  over_batches(
      model, rows, some,
      [&](size_t index, const Batch& batch) {
        const at::Tensor weights = target_attention(model, batch);  // [B, T, S]
        if (!weights.defined()) return;
        const at::Tensor keep = torch::zeros(weights.sizes(), torch::kBool);
        for (int64_t i = 0; i < batch.size; ++i)
          if (const at::Tensor truth = rows.map_truth(some[index][size_t(i)], "attention");
              truth.defined())
            keep[i].narrow(0, 0, truth.size(0)).narrow(1, 0, truth.size(1)).copy_(truth);
        if (const auto share = attention_truth(weights.flatten(0, 1), keep.flatten(0, 1))) {
          counts[index] = keep.any(-1).sum().item<double>();
          sums[index] = *share * counts[index];
        }
      },
      {});
  double sum = 0, count = 0;
  for (size_t i = 0; i < some.size(); ++i) sum += sums[i], count += counts[i];
  return count > 0 ? std::optional<double>(sum / count) : std::nullopt;
}

AlignmentCounts PairsOutput::aligned_words(const Model& model, const Dataset& rows) const {
  AlignmentCounts sum;
  if (!rows.has_truth()) return sum;
  const RowBatches all = batches(model, rows);
  std::vector<AlignmentCounts> of_batch(all.size());
  over_batches(model, rows, all,
               [&](size_t index, const Batch& batch) {
                 const at::Tensor weights = target_attention(model, batch);  // [B, T, S]
                 for (int64_t i = 0; weights.defined() && i < batch.size; ++i) {
                   const NamedTensors known = rows.planted_truth(all[index][size_t(i)]);
                   if (!known.contains("alignment.sure")) continue;
                   const at::Tensor &to = known.at("alignment.target"),
                                    &from = known.at("alignment.source"),
                                    &sure = known.at("alignment.sure");
                   const at::Tensor own =
                       weights[i].narrow(0, 0, to.size(0)).narrow(1, 0, from.size(0));  // [T, S]
                   of_batch[index] += count_links(strongest_links(own, to, from, sure.sizes()),
                                                  sure, known.at("alignment.possible"));
                 }
               },
               {});
  for (const AlignmentCounts& own : of_batch) sum += own;
  return sum;
}

Example TransformerPairsOutput::describe_output(const Example& example,
                                                const Prediction& prediction) const {
  Example described = example;
  Axis output = output_axis(prediction);
  const Vocabulary& symbols = target().vocabulary();
  Axis written{"written", unit(), {symbols.token(symbols.special().begin)}};
  written.output = true;
  written.special = {0};
  if (!output.labels.empty())
    written.labels.insert(written.labels.end(), output.labels.begin(), output.labels.end() - 1);
  described.axes.push_back(std::move(written));
  described.axes.push_back(std::move(output));
  return described;
}

}  // namespace fovea
