// The task `tag`: every word of a sentence has a tag; of entities (IOB2) those are put out that the
// tags spell.
#pragma once

#include <memory>

#include "fovea/data/tags/load.h"
#include "fovea/models/bert_tagger.h"
#include "fovea/models/lstm_tagger.h"
#include "fovea/tasks/bert_task.h"

namespace fovea {

class TagTask : public BertTask {
 public:
  TagTask();
  std::vector<std::string> models() const override { return {"lstm", "bert"}; }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  TrainingOptions fine_tuning_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  void load_pretrained(const std::filesystem::path& run_or_folder) override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// A text, which is cut into words, or {"words": […]}.
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  /// Writes the answer into the text of each output, as JSON: the words that it needs stand in the
  /// example alone.
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  /// {"entities": [{"type", "text", "span"}], "words": […], "tags": […]}; spans count code points.
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// The words with their tags as values.
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 protected:
  BertOptions& encoder_options() override { return bert_.encoder; }
  std::shared_ptr<const WordPiece>& tokeniser() override { return coding_.tokeniser; }

 private:
  bool is_bert() const { return model_name() == "bert"; }
  TagRules rules() const;
  std::vector<std::string> names_of(const std::vector<int64_t>& tags) const;

  TaggingDataOptions data_;
  BertTaggerOptions bert_;
  LstmTaggerOptions lstm_;
  TagCoding coding_;
};

}  // namespace fovea
