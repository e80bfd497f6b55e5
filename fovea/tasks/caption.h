// The task `caption`: what a picture shows, as a sentence; each word looks at the picture.
#pragma once

#include "fovea/data/captions/load.h"
#include "fovea/decoding/search.h"
#include "fovea/models/show_attend_tell.h"
#include "fovea/tasks/task.h"

namespace fovea {

/// Search, and where the words of an answer look.
struct CaptionDecoding : SearchOptions {
  std::string cells = "likeliest";
  void describe(OptionList& list);
};

class CaptionTask : public Task {
 public:
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  void prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path) override;
  /// The weights that model.encoder_weights names.
  void copy_pretrained(Model& model) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  /// Loss, exact match with any of the references, BLEU-1 … BLEU-4; where it is known what a word
  /// names, how often the cell that is looked at most shows it (pointing) and how much of the
  /// attention lies on it (attention_truth).
  Metrics measure(const Model& model, const Dataset& rows) const override;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;
  /// {"image": "data:image/png;base64,…"}, or such a data URL alone.
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
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
  int64_t grid() const;

  CaptionsDataOptions data_;
  ShowAttendTellOptions model_;
  CaptionDecoding decoding_;
  CaptionCoding coding_;
};

}  // namespace fovea
