// The task `context`: a context picks the one position of the input that matters.
#pragma once

#include "fovea/data/sequences/load.h"
#include "fovea/models/context_attention.h"
#include "fovea/tasks/task.h"

namespace fovea {

class ContextTask : public Task {
 public:
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  Example parse(const std::string& line) const override;
  InputColumns input_columns(const Roles& roles) const override;
  std::vector<Example> parse_table(const CsvTable& table,
                                   const InputColumns& columns) const override;
  Json input_schema() const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  ContextDataOptions data_;
  ContextAttentionOptions model_;
  ContextEncoder encoder_;
};

}  // namespace fovea
