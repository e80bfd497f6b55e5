// The task `visits`: will an outcome follow on what a patient's visits hold? RETAIN says what each
// code of each visit added; logistic regression on counts and a GRU stand beside it.
#pragma once

#include "fovea/data/visits/load.h"
#include "fovea/models/retain.h"
#include "fovea/models/visit_baselines.h"
#include "fovea/tasks/task.h"

namespace fovea {

class VisitsTask : public Task {
 public:
  std::vector<std::string> models() const override { return {"retain", "logistic", "gru"}; }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> make_model() const override;
  void save(const RunFolder& folder) const override;
  void restore(const RunFolder& folder) override;
  Metrics measure(const Model& model, const Dataset& rows) const override;
  /// {"visits": [{"time": 17, "codes": ["…", …]}, …]}, where a visit may be its list of codes
  /// alone; or codes with blanks between them and ; between the visits.
  Example parse(const std::string& line) const override;
  InputColumns input_columns(const Roles& roles) const override;
  /// One visit a row, as in training, and an input for each patient.
  std::vector<Example> parse_table(const CsvTable& table,
                                   const InputColumns& columns) const override;
  Json input_schema() const override;
  Batch collate(std::span<const Example> examples) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// The codes that add most, over many patients.
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  /// What if these codes, or visits, were absent.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;

 private:
  VisitsDataOptions data_;
  RetainOptions retain_;
  VisitLogisticOptions logistic_;
  VisitGruOptions gru_;
  VisitCoding coding_;
  std::vector<int64_t> class_counts_;  // training patients without and with the outcome
};

}  // namespace fovea
