// A task is one row of the zoo: how its files are read, which models it has, how their answers are
// measured and shown. It is the only place where data, models and pictures meet; everything outside
// tasks/ speaks to this interface or to Pipeline.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/input_table.h"
#include "fovea/data/source.h"
#include "fovea/explain/record/explanation.h"
#include "fovea/metrics/metric.h"
#include "fovea/models/model.h"
#include "fovea/tasks/data_kind.h"
#include "fovea/tasks/outputs/output.h"
#include "fovea/training/options.h"
#include "fovea/training/run_folder.h"

namespace fovea {

struct ModelSpec;

class Task {
 public:
  virtual ~Task() = default;

  /// Makes describe(), training_defaults() and make_model() those of this model. False when that
  /// changes nothing: it is the one already, or not a model with options of its own.
  bool choose_model(const std::string& name);
  /// The models that have options of their own, the usual one first; empty: all share one list.
  virtual std::vector<std::string> models() const { return {}; }
  /// One model for each list of options; empty: there is only one list.
  virtual std::vector<std::string> option_lists() const { return models(); }
  /// Adds a network, for programs outside of the library.
  virtual void add_model(ModelSpec spec);
  /// Adds the groups data. and model.
  virtual void describe(OptionList& list) = 0;
  /// The training that suits the task's built-in data.
  virtual TrainingOptions training_defaults() const = 0;
  /// The training that suits weights from elsewhere, `--from`.
  virtual TrainingOptions fine_tuning_defaults() const { return training_defaults(); }

  /// Reads the files, or draws the built-in data. The first call fits the encodings on the training
  /// rows.
  virtual Splits load(const DataSource& source, uint64_t seed) = 0;
  /// Writes the built-in data as plain files.
  virtual void write_data(const std::filesystem::path& folder) const = 0;
  /// Reads and encodes once, into one file that trains anywhere. Unsupported where reading is
  /// quick.
  virtual void prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path);

  /// For `--from`, before load(): sizes, tokeniser and encoder come from a run or a Hugging Face
  /// folder (pretrained.h). Unsupported where no other run can help.
  virtual void load_pretrained(const std::filesystem::path& run_or_folder);
  /// Opens a Hugging Face folder as a run; returns what was left out, one sentence each.
  virtual std::vector<std::string> open_pretrained(const std::filesystem::path& folder);
  /// Copies the weights that load_pretrained() read into a model with fresh ones.
  virtual void copy_pretrained(Model& model) const {}

  /// A model for the encodings that load() or restore() left, with undecided weights.
  virtual std::unique_ptr<Model> make_model() const = 0;
  virtual void save(const RunFolder& folder) const = 0;
  virtual void restore(const RunFolder& folder) = 0;

  virtual Metrics measure(const Model& model, const Dataset& rows) const = 0;
  virtual LengthCurve measure_by_length(const Model& model, const Dataset& rows) const;
  /// How a metric was computed, where that has to be said: the signature of BLEU.
  virtual std::vector<std::string> metric_notes(const Dataset& rows) const { return {}; }
  /// Told how many rows were measured, by tasks that decode; may be empty.
  RowProgress progress;

  /// One input: a JSON object, or a row as plain text. BadData says what does not fit.
  virtual Example parse(const std::string& line) const = 0;
  /// Every line of a file is an input, empty ones too.
  virtual bool takes_plain_text() const { return false; }
  /// The columns of a table of inputs; without `needed` ones the task takes no tables. `roles` are
  /// those of training.
  virtual InputColumns input_columns(const Roles& roles) const { return {}; }
  /// The inputs of such a table, one for each row where nothing else is said. BadData or NotFound
  /// with path:line.
  virtual std::vector<Example> parse_table(const CsvTable& table,
                                           const InputColumns& columns) const;
  virtual Json input_schema() const = 0;
  /// Examples side by side.
  virtual Batch collate(std::span<const Example> examples) const;
  /// Fills in what of a prediction is for people and needs the example: texts.
  virtual void finish(const Model& model, std::span<const Example> examples,
                      std::vector<Prediction>& predictions) const {}

  virtual Json answer(const Example& example, const Prediction& prediction) const = 0;
  virtual std::string answer_line(const Example& example, const Prediction& prediction) const = 0;

  /// The example with axes for what was put out.
  virtual Example describe_output(const Example& example, const Prediction& prediction) const {
    return example;
  }
  /// The picture of the whole model over these rows; where there is none, that of the first row.
  virtual Explanation overview(const Model& model, const Dataset& rows) const;
  /// Titles for the maps of one prediction.
  virtual ExplainOptions explain_options() const = 0;
  /// The example without these units of the axis. Unsupported for an axis that cannot lose units.
  virtual Example erase(const Example& example, const std::string& axis,
                        std::span<const int64_t> units) const;
  /// Some rows as a user would give them, to try the run with.
  virtual std::vector<Json> example_inputs(const Dataset& rows, int64_t count) const { return {}; }

  /// Whether inputs are one endless row of events, and the answers to them (outputs/output.h).
  virtual bool streams() const { return false; }
  virtual StreamReport stream(const Model& model, const std::filesystem::path& path, bool json,
                              const std::function<void(const std::string& line)>& answer) const;

  /// What a model outside of the library needs to know of encoded rows: "classes", "columns", …
  virtual std::map<std::string, int64_t> sizes() const { return {}; }

  /// Keeps only what attention looks at most, for `fovea prune`. Unsupported where that has no
  /// meaning.
  virtual std::vector<std::string> keep_most_attended(const Model& model, const Dataset& rows,
                                                      int64_t count);

 protected:
  /// The chosen one of models().
  std::string model_name() const;

 private:
  std::string model_name_;  // empty: the usual one
};

}  // namespace fovea
