// The task `forecast`: the next steps of numeric series from the last ones.
#pragma once

#include "fovea/data/series/load.h"
#include "fovea/models/seq2seq.h"
#include "fovea/tasks/task.h"

namespace fovea {

class ForecastTask : public Task {
 public:
  ForecastTask();
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
  /// One step a row; the last ones are the input.
  std::vector<Example> parse_table(const CsvTable& table,
                                   const InputColumns& columns) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  /// Step by step, each target series: [T][O], in the series' own units.
  std::vector<std::vector<double>> forecast(const Prediction& prediction) const;
  SeriesDataOptions data_;
  Seq2SeqOptions model_;
  SeriesEncoder encoder_;
};

}  // namespace fovea
