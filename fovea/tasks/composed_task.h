// A task as a row of the catalogue: a kind of data, a kind of output, and the networks between
// them.
#pragma once

#include "fovea/tasks/model_spec.h"
#include "fovea/tasks/task.h"

namespace fovea {

class ComposedTask : public Task {
 public:
  /// `name` as in the catalogue.
  ComposedTask(std::string name, std::shared_ptr<DataKind> data, std::shared_ptr<OutputKind> output,
               std::vector<ModelSpec> specs);

  std::vector<std::string> models() const override;
  std::vector<std::string> option_lists() const override;
  void add_model(ModelSpec spec) override { specs_.push_back(std::move(spec)); }
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override { return spec().training; }
  TrainingOptions fine_tuning_defaults() const override;
  Splits load(const DataSource& source, uint64_t seed) override;
  void write_data(const std::filesystem::path& folder) const override { data().write(folder); }
  void prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path) override;
  void load_pretrained(const std::filesystem::path& run_or_folder) override;
  std::vector<std::string> open_pretrained(const std::filesystem::path& folder) override;
  void copy_pretrained(Model& model) const override;
  std::unique_ptr<Model> make_model() const override { return spec().make(); }
  void save(const RunFolder& folder) const override { data().save(folder); }
  void restore(const RunFolder& folder) override { data().restore(folder); }
  Metrics measure(const Model& model, const Dataset& rows) const override;
  LengthCurve measure_by_length(const Model& model, const Dataset& rows) const override;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;
  Example parse(const std::string& line) const override { return data().parse(line); }
  bool takes_plain_text() const override { return data().takes_plain_text(); }
  InputColumns input_columns(const Roles& roles) const override;
  std::vector<Example> parse_table(const CsvTable& table,
                                   const InputColumns& columns) const override;
  Json input_schema() const override { return data().input_schema(); }
  Batch collate(std::span<const Example> examples) const override;
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  Explanation overview(const Model& model, const Dataset& rows) const override;
  ExplainOptions explain_options() const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const override;
  bool streams() const override { return output().streams(); }
  StreamReport stream(const Model& model, const std::filesystem::path& path, bool json,
                      const std::function<void(const std::string& line)>& answer) const override;
  std::map<std::string, int64_t> sizes() const override { return data().sizes(); }
  std::vector<std::string> keep_most_attended(const Model& model, const Dataset& rows,
                                              int64_t count) override;

 private:
  /// Of the chosen model.
  const ModelSpec& spec() const;
  DataKind& data() const { return spec().data ? *spec().data : *data_; }
  OutputKind& output() const { return spec().output ? *spec().output : *output_; }

  std::string name_;
  std::shared_ptr<DataKind> data_;
  std::shared_ptr<OutputKind> output_;
  std::vector<ModelSpec> specs_;
};

}  // namespace fovea
