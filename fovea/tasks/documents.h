// The task `documents`: which class a text, or a pair of texts, belongs to.
#pragma once

#include <optional>

#include "fovea/data/documents_data.h"
#include "fovea/models/bert_classifier.h"
#include "fovea/tasks/pretrained.h"
#include "fovea/tasks/task.h"

namespace fovea {

class DocumentsTask : public Task {
 public:
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  void start_from(const std::filesystem::path& run_or_folder) override;
  void give_start(Model& model) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// A text, or {"text": …, "second": …}; of pairs also both with a tab between them.
  Example parse(const std::string& line) const override;
  bool takes_plain_text() const override { return true; }
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  Json answer(const Prediction& prediction) const override;
  std::string answer_line(const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  DocumentEncoder encoder() const { return {coding_.tokeniser, data_.frames, coding_.pairs}; }

  DocumentsDataOptions data_;
  BertClassifierOptions model_;
  DocumentCoding coding_;
  std::vector<int64_t> class_counts_;  // training rows of each class, once they were loaded
  std::optional<PretrainedBert> start_;
};

}  // namespace fovea
