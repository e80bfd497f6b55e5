// The task `documents`: which class a text, or a pair of texts, belongs to. BERT reads pieces of
// words; hierarchical attention (han) reads sentences of words, and shows which of both decided.
#pragma once

#include <optional>

#include "fovea/data/documents/load.h"
#include "fovea/data/tokenisers/word_vectors.h"
#include "fovea/models/bert_classifier.h"
#include "fovea/models/hierarchical.h"
#include "fovea/tasks/bert_task.h"

namespace fovea {

class DocumentsTask : public BertTask {
 public:
  std::vector<std::string> models() const override { return {"bert", "han"}; }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  TrainingOptions fine_tuning_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  void load_pretrained(const std::filesystem::path& run_or_folder) override;
  /// Also the vectors that data.vectors named.
  void copy_pretrained(Model& model) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// A text, or {"text": …, "second": …}; of pairs also both with a tab between them.
  Example parse(const std::string& line) const override;
  InputColumns input_columns(const Roles& roles) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// han: the document is called by its class.
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
  TextsAs texts_as() const { return is_bert() ? TextsAs::Pieces : TextsAs::Sentences; }
  void read_vectors(Splits& splits);

  DocumentsDataOptions data_;
  BertClassifierOptions bert_;
  HierarchicalOptions hierarchical_;
  DocumentCoding coding_;
  std::optional<WordVectors> vectors_;
  std::vector<int64_t> class_counts_;  // training rows of each class, once they were loaded
};

}  // namespace fovea
