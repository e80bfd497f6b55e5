// A task is a row of the catalogue: a kind of data (data_kind.h), a kind of output
// (outputs/output.h) and the networks between them (model_spec.h), one of which is chosen. It is
// the only place where data, models and pictures meet; everything outside of tasks/ speaks to this
// class or to Pipeline.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fovea/tasks/model_spec.h"

namespace fovea {

class Task {
 public:
  /// `name` as in the catalogue; the first model is the usual one.
  Task(std::string name, std::shared_ptr<DataKind> data, std::shared_ptr<OutputKind> output,
       std::vector<ModelSpec> specs);

  /// All values of model.name, the usual one first.
  std::vector<std::string> models() const;
  /// Makes describe(), training_defaults() and make_model() those of this model. False when that
  /// changes nothing: it is the one already, or there is no such model.
  bool choose_model(const std::string& name);
  const std::string& model_name() const;  // of the chosen one
  /// The usual model of a training that begins with another run or folder, --from.
  const std::string& fine_tuned_model() const;
  /// One model for each list of options; empty: there is only one list.
  std::vector<std::string> option_lists() const;
  /// Adds a network, for programs outside of the library.
  void add_model(ModelSpec spec) { specs_.push_back(std::move(spec)); }

  /// Adds the groups data. and model., and those of the output.
  void describe(OptionList& list);
  /// The training that suits data of any size.
  TrainingOptions training_defaults() const { return spec().training; }
  /// The training that suits weights from elsewhere, `--from`.
  TrainingOptions fine_tuning_defaults() const;
  /// Names of the settings that the program brings along, for `--config NAME`.
  std::vector<std::string> configs() const;
  /// One of them, for the chosen model. NotFound names the nearest.
  Json config(const std::string& name, bool fine_tuning) const;

  // The kind of data (data_kind.h).
  Splits load(const DataSource& source, uint64_t seed);
  bool has_folds() const { return data().has_folds(); }
  void write_data(const std::filesystem::path& folder) const { data().write(folder); }
  void prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path);
  void save(const RunFolder& folder) const { data().save(folder); }
  void restore(const RunFolder& folder) { data().restore(folder); }
  std::vector<SymbolTable> symbols() const { return data().symbols(); }
  std::map<std::string, int64_t> sizes() const { return data().sizes(); }
  Example parse(const std::string& line) const { return data().parse(line); }
  bool takes_plain_text() const { return data().takes_plain_text(); }
  InputColumns input_columns(const Roles& roles) const { return data().input_columns(roles); }
  std::vector<Example> parse_table(const CsvTable& table, const InputColumns& columns) const {
    return data().parse_table(table, columns);
  }
  std::vector<std::string> input_notes(const Example& example) const {
    return data().input_notes(example);
  }
  std::vector<std::string> encoding_notes() const { return data().encoding_notes(); }
  std::vector<std::string> table_notes(const CsvTable& table) const {
    return data().table_notes(table);
  }
  Json input_schema() const { return data().input_schema(); }
  Batch collate(std::span<const Example> examples) const { return data().collate(examples); }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const {
    return data().erase(example, axis, units);
  }
  /// The row as a user would give it; null where that is not known.
  Json input(const Dataset& rows, int64_t row) const { return data().input(rows, row); }
  /// Some rows as a user would give them, to try the run with.
  std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const;
  /// The right answers to them, {input_key(): text} (truth.h), as far as they are known.
  Json example_truths(const Dataset& rows, int64_t count) const;

  // The chosen network (model_spec.h).
  /// What `fovea tune` varies, of the options that there are.
  const std::vector<Tunable>& tunables() const { return spec().tunables; }
  std::unique_ptr<Model> make_model() const { return spec().make(); }
  /// Where model.name leaves the choice open: from which models to choose (choose_model.h).
  const std::vector<std::string>& candidates() const { return spec().candidates; }
  double cost() const { return spec().cost ? spec().cost() : 1; }
  /// For `--from`, before load(). Unsupported where no other run can help.
  void load_pretrained(const std::filesystem::path& run_or_folder);
  /// Opens a Hugging Face folder as a run; returns what was left out, one sentence each.
  std::vector<std::string> open_pretrained(const std::filesystem::path& folder);
  /// Writes the network of `run`, or only its low-rank adapters, as Hugging Face's libraries read
  /// it; returns what was left out, one sentence each.
  std::vector<std::string> write_hugging_face(const std::filesystem::path& run,
                                              const std::filesystem::path& folder,
                                              bool only_adapter) const;
  /// Copies the weights that load_pretrained() read into a model with fresh ones.
  void copy_pretrained(Model& model) const;
  /// ModelSpec::save_weights.
  void save_weights(const Model& model, const RunFolder& folder) const {
    if (spec().save_weights) spec().save_weights(model, folder);
  }
  /// ModelSpec::fit and refits.
  bool fit(Model& model, const Dataset& train, const CountProgress& fits = {}) const {
    return spec().fit && spec().fit(model, train, fits);
  }
  bool has_fit() const { return bool(spec().fit); }
  bool refits(bool fitted) const { return spec().refits && spec().refits(fitted); }
  /// Keeps only what attention looks at most, for `fovea prune`. Unsupported where that has no
  /// meaning.
  std::vector<std::string> keep_most_attended(const Model& model, const Dataset& rows,
                                              int64_t count);
  /// The picture of the whole model over these rows; where there is none, that of the first row.
  Explanation overview(const Model& model, const Dataset& rows) const;
  bool has_attention() const { return !spec().has_attention || spec().has_attention(); }
  /// Titles for the maps of one prediction.
  ExplainOptions explain_options() const;

  // The kind of output (outputs/output.h).
  std::vector<std::string> class_names() const { return output().class_names(); }
  std::vector<std::string> monitors(const std::vector<std::string>& usual) const {
    return output().monitors(usual);
  }
  Metrics measure(const Model& model, const Dataset& rows) const {
    return output().measure(model, rows, progress);
  }
  /// With the baselines' results, where they were fitted.
  Evaluation evaluate(const Model& model, const Dataset& rows, const NamedTensors& baselines) const;
  NamedTensors fit_baselines(const Dataset& train) const {
    return output().fit_baselines(train, data().linear_inputs(train));
  }
  void check_output(bool has_validation) const { output().check_options(has_validation); }
  bool fit_answers(Model& model, const Dataset& validation) {
    return output().fit_answers(model, validation);
  }
  Json fitted_answers() const { return output().fitted_answers(); }
  bool restore_answers(const std::optional<Field>& fitted) {
    return output().restore_answers(fitted);
  }
  LengthCurve measure_by_length(const Model& model, const Dataset& rows) const {
    return output().measure_by_length(model, rows, progress);
  }
  std::vector<std::string> metric_notes(const Dataset& rows) const {
    return output().metric_notes(rows);
  }
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const {
    output().finish(model, examples, predictions);
  }
  std::string truth(const Dataset& rows, int64_t row) const { return output().truth(rows, row); }
  /// With "notes" where the input holds what training did not.
  Json answer(const Example& example, const Prediction& prediction) const;
  std::string answer_line(const Example& example, const Prediction& prediction) const {
    return output().answer_line(example, prediction);
  }
  Json answer_row(const Example& example, const Prediction& prediction) const {
    return output().answer_row(example, prediction);
  }
  Example describe_output(const Example& example, const Prediction& prediction) const {
    return output().describe_output(example, prediction);
  }
  RowsKind rows_kind() const { return output().rows_kind(); }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const {
    return output().judge_rows(rows);
  }
  bool embeds() const { return output().embeds(); }
  bool streams() const { return output().streams(); }
  StreamReport stream(const Model& model, const std::filesystem::path& path, bool json,
                      const std::function<void(const std::string& line)>& answer) const {
    return output().stream(model, path, json, answer);
  }

  /// Told how many rows were measured; may be empty.
  RowProgress progress;
  /// Of load() and prepare(), where they take long; may be empty.
  LoadProgressMaker loading;

 private:
  const ModelSpec& spec() const;  // of the chosen model
  DataKind& data() const { return spec().data ? *spec().data : *data_; }
  OutputKind& output() const { return spec().output ? *spec().output : *output_; }

  std::string name_, model_name_;  // the latter empty: the usual one
  std::shared_ptr<DataKind> data_;
  std::shared_ptr<OutputKind> output_;
  std::vector<ModelSpec> specs_;
};

}  // namespace fovea
