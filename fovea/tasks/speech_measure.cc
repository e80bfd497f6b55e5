// How well speech is written down, how long it may be, and whether symbols listen to their words.
#include <map>

#include "fovea/data/speech/spoken_word.h"
#include "fovea/metrics/sequences.h"
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

double word_error_rate(const GeneratedRows& written) {
  Words words;
  std::vector<Symbols> found, wanted;
  for (size_t i = 0; i < written.outputs.size(); ++i) {
    found.push_back(words.of(written.outputs[i]));
    wanted.push_back(words.of(written.references[i].at(0)));
  }
  return error_rate(found, wanted);
}

double character_error_rate(const GeneratedRows& written) {
  std::vector<Symbols> found, wanted;
  for (size_t i = 0; i < written.outputs.size(); ++i) {
    found.push_back(code_points(written.outputs[i]));
    wanted.push_back(code_points(written.references[i].at(0)));
  }
  return error_rate(found, wanted);
}

}  // namespace

GeneratedRows SpeechTask::transcribe(const Model& model, const SpeechDataset& rows) const {
  RowsToWrite utterances{rows, kFramesTogether,
                         [&](int64_t row) { return References{rows.transcript(row)}; },
                         [&](int64_t row) { return rows.target_ids(row); }};
  if (rows.has_truth()) utterances.truth = [&](int64_t row) { return rows.truth(row); };
  return write_rows(model, utterances, *coding_.tokeniser, progress);
}

Metrics SpeechTask::measure(const Model& model, const Dataset& rows) const {
  const auto& once = dynamic_cast<const SpeechDataset&>(rows);
  std::shared_ptr<SpeechDataset> longer;
  if (decoding_.repeat > 1)
    longer = repeated(once, once.size(), decoding_.repeat, *coding_.tokeniser);
  const GeneratedRows written = transcribe(model, longer ? *longer : once);
  Metrics metrics{{"loss", written.nats / written.symbols},
                  {"word_error_rate", word_error_rate(written)},
                  {"character_error_rate", character_error_rate(written)},
                  {"exact_match", written.exact_match(), true}};
  written.add_truth(metrics);
  return metrics;
}

LengthCurve SpeechTask::measure_by_length(const Model& model, const Dataset& rows) const {
  const auto& once = dynamic_cast<const SpeechDataset&>(rows);
  LengthCurve curve;
  curve.metric = "word_error_rate";
  curve.length = "the same utterance so many times in a row";
  for (const int64_t times : kRepeats) {
    const auto longer = repeated(once, kRowsOfCurve, times, *coding_.tokeniser);
    const GeneratedRows written = transcribe(model, *longer);
    curve.buckets.push_back(concat(times, " x"));
    curve.values.push_back(word_error_rate(written));
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
