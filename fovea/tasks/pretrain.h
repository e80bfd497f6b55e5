// The task `pretrain`: BERT learns from plain text, or goes on learning from where another stopped;
// then it turns texts into embeddings and fills in [MASK]. A Hugging Face folder opens as a run of
// this task.
#pragma once

#include "fovea/data/corpus/load.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/tasks/bert_task.h"

namespace fovea {

class PretrainTask : public BertTask {
 public:
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  void copy_pretrained(Model& model) const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  Example parse(const std::string& line) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

  /// Takes this encoder to answer with, and of the heads only those that it has.
  std::vector<std::string> open_pretrained(const std::filesystem::path& folder) override;

 protected:
  BertOptions& encoder_options() override { return model_.encoder; }
  std::shared_ptr<const WordPiece>& tokeniser() override { return tokeniser_; }

 private:
  BertPretrainerShape shape() const;

  PretrainDataOptions data_;
  BertPretrainerOptions model_;
  std::shared_ptr<const WordPiece> tokeniser_;
  bool only_answers_ = false;  // no head is made that `start_` does not have
};

}  // namespace fovea
