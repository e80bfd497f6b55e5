// A kind of data, as tasks see it: how files or the generator become rows, what is learned from the
// training rows and kept in the run, and how one input becomes an Example. Each tasks/<task>.cc has
// its own, on the readers and encoders of data/<kind>/; what follows from the kind of answer is in
// outputs/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/input_table.h"
#include "fovea/data/source.h"
#include "fovea/tasks/baselines.h"
#include "fovea/training/run_folder.h"

namespace fovea {

/// Who is told of something that takes long: what it is ("reading") and what is counted
/// ("pictures").
using LoadProgressMaker =
    std::function<LoadProgress(const std::string& title, const std::string& unit)>;

/// What the numbers of a symbol stand for: "source", "words", "codes".
struct SymbolTable {
  std::string name;
  std::vector<std::string> labels;
};

class DataKind {
 public:
  virtual ~DataKind() = default;

  /// The group data.
  virtual void describe(OptionList& list) = 0;
  /// Reads the files, or draws the synthetic data. The first call fits the encodings on the
  /// training rows.
  virtual Splits load(const DataSource& source, uint64_t seed) = 0;
  /// Whether load() obeys the folds of a DataSource.
  virtual bool has_folds() const { return true; }
  /// Writes the synthetic data as plain files.
  virtual void write(const std::filesystem::path& folder) const = 0;
  /// Reads and encodes once, into one file that trains anywhere. Unsupported where reading is
  /// quick.
  virtual void prepare(const DataSource& source, uint64_t seed, const std::filesystem::path& path);

  /// What was learned from the training rows, as assets of the run.
  virtual void save(const RunFolder& folder) const = 0;
  virtual void restore(const RunFolder& folder) = 0;
  /// The symbols that networks have embeddings of, as learned from the training rows.
  virtual std::vector<SymbolTable> symbols() const { return {}; }
  /// What a model outside of the library needs to know of encoded rows: "classes", "columns", …
  virtual std::map<std::string, int64_t> sizes() const { return {}; }

  /// One input: a JSON object, or a row as plain text. BadData says what does not fit.
  virtual Example parse(const std::string& line) const = 0;
  virtual Json input_schema() const = 0;
  /// Every line of a file is an input, empty ones too.
  virtual bool takes_plain_text() const { return false; }
  /// The columns of a table of inputs; without `needed` ones the kind takes no tables. `roles` are
  /// those of training.
  virtual InputColumns input_columns(const Roles& roles) const { return {}; }
  /// The inputs of such a table, one for each row where nothing else is said. BadData or NotFound
  /// with path:line.
  virtual std::vector<Example> parse_table(const CsvTable& table,
                                           const InputColumns& columns) const;
  /// The rows as a linear baseline sees them; empty where that makes no sense.
  virtual LinearInputs linear_inputs(const Dataset& rows) const { return {}; }
  /// What an input holds that training did not, one sentence each: unseen categories, numbers out
  /// of range, unknown names.
  virtual std::vector<std::string> input_notes(const Example& example) const { return {}; }
  /// What a picture's labels do not say of how inputs are seen, one sentence each.
  virtual std::vector<std::string> encoding_notes() const { return {}; }
  /// The same of all rows of a table of inputs, counted.
  virtual std::vector<std::string> table_notes(const CsvTable& table) const { return {}; }
  /// Examples side by side: stack() (data/dataset.h) where they need no padding.
  virtual Batch collate(std::span<const Example> examples) const = 0;
  /// A row as a user would give it for an answer, to try a run with; null where there is no such.
  virtual Json input(const Dataset& rows, int64_t row) const { return rows.input(row); }
  /// At most `count` rows whose inputs are worth a try: the first ones.
  virtual std::vector<int64_t> example_rows(const Dataset& rows, int64_t count) const;
  /// The example without these units of the axis. Unsupported for an axis that cannot lose units.
  virtual Example erase(const Example& example, const std::string& axis,
                        std::span<const int64_t> units) const;

  /// Who is told how far a load() is that takes long; may be empty.
  LoadProgressMaker loading;

 protected:
  LoadProgress progress(const std::string& title, const std::string& unit) const {
    return loading ? loading(title, unit) : LoadProgress();
  }
};
}  // namespace fovea
