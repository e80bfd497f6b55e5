// A task is one row of the zoo: how its files are read, which models it has, how their answers are
// measured and shown. It is the only place where data, models and pictures meet; everything outside
// tasks/ speaks to this interface or to Pipeline.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/source.h"
#include "fovea/explain/explanation.h"
#include "fovea/metrics/metric.h"
#include "fovea/models/model.h"
#include "fovea/training/options.h"
#include "fovea/training/run_folder.h"

namespace fovea {

class Task {
 public:
  virtual ~Task() = default;

  /// Adds the groups data. and model.
  virtual void describe(OptionList& list) = 0;
  /// The training that suits the task's built-in data.
  virtual TrainingOptions training_defaults() const = 0;

  /// Reads the files, or draws the built-in data. The first call fits the encodings on the training
  /// rows.
  virtual Splits load(const DataSource& source, uint64_t seed) = 0;
  /// Writes the built-in data as plain files.
  virtual void write_data(const std::filesystem::path& folder) const = 0;

  /// A model for the encodings that load() or restore() left, with undecided weights.
  virtual std::unique_ptr<Model> make_model() const = 0;
  virtual void save(const RunFolder& folder) const = 0;
  virtual void restore(const RunFolder& folder) = 0;

  virtual Metrics measure(const Model& model, const Dataset& rows) const = 0;

  /// One input: a JSON object, or a row as plain text. BadData says what does not fit.
  virtual Example parse(const std::string& line) const = 0;
  /// A table of inputs with a header; null when `first_line` is not one.
  virtual std::shared_ptr<Dataset> parse_table(const std::filesystem::path& path) const = 0;
  virtual bool is_header(const std::string& first_line) const = 0;
  virtual Json input_schema() const = 0;

  virtual Json answer(const Prediction& prediction) const = 0;
  virtual std::string answer_line(const Prediction& prediction) const = 0;

  /// The picture of the whole model: over these rows.
  virtual Explanation overview(const Model& model, const Dataset& rows) const = 0;
  /// Titles for the maps of one prediction.
  virtual ExplainOptions explain_options() const = 0;

  /// Keeps only what attention looks at most, for `fovea prune`. Unsupported where that has no
  /// meaning.
  virtual std::vector<std::string> keep_most_attended(const Model& model, const Dataset& rows,
                                                      int64_t count);
};

/// All resident columns as one batch, without copying.
Batch whole(const Dataset& rows);

/// Examples side by side, for models whose examples need no padding.
Batch stack(std::span<const Example> examples);

}  // namespace fovea
