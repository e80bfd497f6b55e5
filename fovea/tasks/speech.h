// The task `speech`: what is said, as text; each symbol listens to the sound before it is written.
#pragma once

#include "fovea/data/speech/load.h"
#include "fovea/decoding/search.h"
#include "fovea/models/listen_attend_spell.h"
#include "fovea/tasks/generation.h"
#include "fovea/tasks/task.h"

namespace fovea {

/// Search, and what may be changed in a trained run to see how it stands long utterances
/// (Chorowski et al. 2015, section 3.2).
struct SpeechDecoding : SearchOptions {
  double sharpness = 1;  // beta of softmax(beta e)
  int64_t window = 0;    // 0: everywhere
  int64_t repeat = 1;    // each measured utterance, so many times in a row
  void describe(OptionList& list);
};

class SpeechTask : public Task {
 public:
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  void prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path) override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  /// Loss, word and character error rate, utterances without any error; where it is known when
  /// words are heard, how much of the attention lies inside the word that is being written
  /// (attention_truth), and how often its strongest place does (pointing).
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// Word error rate of utterances that are said once, twice, … in a row.
  LengthCurve measure_by_length(const Model& model, const Dataset& rows) const override;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;
  /// {"audio": "data:audio/wav;base64,…"}, or such a data URL alone.
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  /// {"text": …, "log_probability": …}, and "outputs" where there are several.
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  GeneratedRows transcribe(const Model& model, const SpeechDataset& rows) const;
  SpeechFeatures features() const { return features_of(data_, coding_, model_.unit_frames()); }

  SpeechDataOptions data_;
  ListenAttendSpellOptions model_;
  SpeechDecoding decoding_;
  SpeechCoding coding_;
};

}  // namespace fovea
