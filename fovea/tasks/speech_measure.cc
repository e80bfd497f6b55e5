// How well speech is written down, how long it may be, and whether symbols listen to their words.
#include <algorithm>
#include <map>

#include "fovea/core/torch.h"
#include "fovea/data/audio/spoken_word.h"
#include "fovea/metrics/sequences.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/speech.h"

namespace fovea {

namespace {

constexpr int64_t kFramesTogether = 8192;        // of a batch that is measured
constexpr int64_t kRepeats[] = {1, 2, 3, 5, 8};  // of the curve
constexpr int64_t kRowsOfCurve = 100;

/// Words as numbers, each its own.
class Words {
 public:
  Symbols of(const std::string& text) {
    Symbols symbols;
    for (const Span& span : word_spans(text)) {
      const std::string word = text.substr(size_t(span.begin), size_t(span.end - span.begin));
      symbols.push_back(numbers_.emplace(word, int64_t(numbers_.size())).first->second);
    }
    return symbols;
  }

 private:
  std::map<std::string, int64_t> numbers_;
};

double word_error_rate(const std::vector<std::string>& outputs,
                       const std::vector<std::string>& references) {
  Words words;
  std::vector<Symbols> found, wanted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    found.push_back(words.of(outputs[i]));
    wanted.push_back(words.of(references[i]));
  }
  return error_rate(found, wanted);
}

double character_error_rate(const std::vector<std::string>& outputs,
                            const std::vector<std::string>& references) {
  std::vector<Symbols> found, wanted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    found.push_back(code_points(outputs[i]));
    wanted.push_back(code_points(references[i]));
  }
  return error_rate(found, wanted);
}

/// Sums over the symbols of words that are heard.
struct Listening {
  double pointed = 0, inside = 0, heard = 0;
};

/// weights [T, units], truth bool [T, units].
Listening listening_of(const at::Tensor& weights, const at::Tensor& truth) {
  const at::Tensor heard = truth.any(1);                                // [T]
  const at::Tensor most = weights.argmax(1, true);                      // [T, 1]
  const at::Tensor pointed = truth.gather(1, most).squeeze(1) & heard;  // [T]
  const at::Tensor all = weights.sum(1).clamp_min(1e-12);               // [T]
  const at::Tensor inside = (weights * truth).sum(1) / all;             // [T]
  return {pointed.sum().item<double>(), (inside * heard).sum().item<double>(),
          heard.sum().item<double>()};
}

}  // namespace

SpeechTask::Outcome SpeechTask::decode(const Model& model, const SpeechDataset& rows) const {
  const auto& writer = dynamic_cast<const SequenceModel&>(model);
  const auto count = static_cast<size_t>(rows.size());
  const bool has_truth = rows.has_truth();
  Outcome outcome;
  outcome.outputs.resize(count);
  outcome.references.resize(count);
  std::vector<Listening> listening(count);
  std::vector<std::pair<double, double>> nats(count);  // of a batch, where its first row is
  over_rows(
      model, rows, kFramesTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const Predictions answers = model.predict(batch);
        const auto [sum, symbols] = writer.negative_log_likelihood(batch);
        nats[size_t(picked[0])] = {sum, double(symbols)};
        for (size_t i = 0; i < picked.size(); ++i) {
          const auto row = size_t(picked[i]);
          outcome.outputs[row] = text_of(answers.outputs[i].at(0).tokens);
          outcome.references[row] = rows.transcript(picked[i]);
        }
        if (!has_truth) return;
        // Teacher-forced with the right transcript: only that is known to be heard where.
        Predictions right;
        for (const int64_t row : picked) right.outputs.push_back({{rows.target_ids(row), 0, ""}});
        Tap tap;
        model.replay(batch, right, &tap);
        if (!has_map(tap, "attention")) return;
        const at::Tensor weights = tap.map("attention").weights.squeeze(1).cpu();  // [B, T, units]
        for (size_t i = 0; i < picked.size(); ++i) {
          const at::Tensor truth = rows.truth(picked[i]);  // [T, units]
          const at::Tensor own =
              weights[int64_t(i)].narrow(0, 0, truth.size(0)).narrow(1, 0, truth.size(1));
          listening[size_t(picked[i])] = listening_of(own, truth);
        }
      },
      progress);
  for (size_t row = 0; row < count; ++row) {  // in this order, whatever thread was first
    outcome.nats += nats[row].first;
    outcome.symbols += nats[row].second;
    outcome.pointed += listening[row].pointed;
    outcome.inside += listening[row].inside;
    outcome.heard += listening[row].heard;
  }
  return outcome;
}

Metrics SpeechTask::measure(const Model& model, const Dataset& rows) const {
  const auto& once = dynamic_cast<const SpeechDataset&>(rows);
  std::shared_ptr<SpeechDataset> longer;
  if (decoding_.repeat > 1)
    longer = repeated(once, once.size(), decoding_.repeat, *coding_.tokeniser);
  const Outcome outcome = decode(model, longer ? *longer : once);
  double right = 0;
  for (size_t i = 0; i < outcome.outputs.size(); ++i)
    right += outcome.outputs[i] == outcome.references[i];
  Metrics metrics{
      {"loss", outcome.nats / outcome.symbols},
      {"word_error_rate", word_error_rate(outcome.outputs, outcome.references)},
      {"character_error_rate", character_error_rate(outcome.outputs, outcome.references)},
      {"exact_match", right / double(outcome.outputs.size()), true}};
  if (outcome.heard > 0) {
    metrics.push_back({"pointing", outcome.pointed / outcome.heard, true});
    metrics.push_back({"attention_truth", outcome.inside / outcome.heard, true});
  }
  return metrics;
}

LengthCurve SpeechTask::measure_by_length(const Model& model, const Dataset& rows) const {
  const auto& once = dynamic_cast<const SpeechDataset&>(rows);
  LengthCurve curve;
  curve.metric = "word_error_rate";
  for (const int64_t times : kRepeats) {
    const auto longer = repeated(once, kRowsOfCurve, times, *coding_.tokeniser);
    const Outcome outcome = decode(model, *longer);
    curve.buckets.push_back(concat(times, " x"));
    curve.values.push_back(word_error_rate(outcome.outputs, outcome.references));
    curve.counts.push_back(longer->size());
  }
  return curve;
}

std::vector<std::string> SpeechTask::metric_notes(const Dataset& rows) const {
  const auto& speech = dynamic_cast<const SpeechDataset&>(rows);
  std::vector<std::string> notes{
      concat(format_duration(speech.seconds() * double(decoding_.repeat)), " of sound")};
  if (decoding_.repeat > 1)
    notes.push_back(concat("every utterance ", decoding_.repeat, " times in a row"));
  if (speech.has_truth())
    notes.push_back(
        "attention_truth: share of the attention inside the word that is being written; pointing: "
        "share of symbols whose strongest place lies there; both for the right transcript");
  return notes;
}

}  // namespace fovea
