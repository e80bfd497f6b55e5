// Where rows come from: nothing (the built-in generator), one file, or a folder with train, val and
// test files and perhaps a dataset.json. This file finds the files and cuts them into splits;
// docs/formats/dataset.md states the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/table_rows.h"

namespace fovea {

/// Column roles as in --columns target=income,drop=id,drop=name.
using Roles = std::map<std::string, std::vector<std::string>>;

struct DataSource {
  std::filesystem::path path;  // empty: built-in
  Roles roles;
  bool whole =
      false;  // a file without a split column is one test split (evaluating on a file of one's own)
  std::filesystem::path target_path = {};  // two parallel files: `path` holds the sources
  /// Cross-validation: the training rows are cut into so many folds, of which this one, from 0, is
  /// for validation; `fold` = `folds`: all are for training. 0: no folds.
  int64_t folds = 0, fold = 0;
  /// Of files of so many bytes at most the rows are kept while they are loaded: that is quicker
  /// than to read them again.
  int64_t kept_bytes = int64_t{256} << 20;
};

/// Told how many of how many are done, of a load that takes long; may be empty.
using LoadProgress = std::function<void(int64_t done, int64_t total)>;

/// The one file of the folder that has one of the names and one of the endings, perhaps with .gz;
/// else none. BadData for two: which one was meant cannot be known.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& folder,
                                               const std::vector<std::string>& names,
                                               const std::vector<std::string>& endings);

/// The split that a word names in a split column or as a file's name (train, training; val, dev,
/// validation, valid; test; in any case), or -1.
int split_named(std::string_view word);
/// The split that a cell of a split column names; BadData with `place` where it names none.
Split split_in_cell(std::string_view cell, const std::string& place);
/// Whether any cell does. A column that is only called split and never does is an ordinary one; one
/// with a typo in it is not, and is refused where it is read.
bool names_splits(const CsvTable& table, int64_t column);
bool names_splits(const std::filesystem::path& path, const CsvOptions& options, int64_t column);

/// A folder's dataset.json. BadData unless it is one for `task` (empty: for any task).
Json read_description(const std::filesystem::path& path, const std::string& task);
/// Writes one for built-in data. `more` holds the truth and what else the task has to say;
/// `generator`, the options that drew it, is for people. Null: left out.
void write_description(const std::filesystem::path& folder, const std::string& task,
                       const Json& generator, const Json& more = {});
/// The hash of built-in data: of what decides it.
std::string hash_of_built_in(const std::string& task, const Json& generator);

/// "reviews.csv (training)", or of built-in data `what`.
std::string place_of(const DataSource& source, int split, const std::string& what);

struct SplitOptions {
  std::string task = {};       // what dataset.json must say, when there is one
  double fraction = 0.2;       // of the training rows, when there is no validation split; 0: none;
                               // below 0: a fifth, of many rows 2,000 or a twentieth
  uint64_t seed = 0;           // chooses these rows
  bool needs_training = true;  // otherwise any one split is enough
  std::string split = {};      // the column that says it; empty: "split", if its cells do
  // Of a table: the column whose values are spread evenly; "": the one that is called like a
  // target.
  std::optional<std::string> stratify = {};
  int64_t folds = 0, fold = 0;  // as in DataSource
};

struct SourceTables {
  std::optional<TableRows> train, validation, test;
  std::optional<TableRows>& operator[](int split) {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
  const std::optional<TableRows>& operator[](int split) const {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
  std::string split_column;  // the one in use, or ""
  std::string hash;
  Json description;  // dataset.json, or null
  std::vector<std::string> notes;
};

/// Opens a file or folder. NotFound, or BadData with path:line.
SourceTables open_source(const DataSource& source, const SplitOptions& options);

/// Indices of `rows` rows, cut in two; both halves ascending.
struct RowSplit {
  std::vector<int64_t> train, validation;
};
RowSplit split_rows(int64_t rows, double fraction, uint64_t seed);

/// The class of each row.
struct RowClasses {
  std::map<std::string, int64_t> numbers = {};
  std::vector<int32_t> class_of = {};
  RowClasses() = default;
  RowClasses(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
  }
  void add(const std::string& name) {
    class_of.push_back(int32_t(numbers.emplace(name, int64_t(numbers.size())).first->second));
  }
};

/// As split_rows(), for the options' fraction or fold. Where there are `classes`, and few enough,
/// each has its share of the rows that are held out.
RowSplit hold_out_rows(int64_t rows, const SplitOptions& options, const RowClasses& classes = {});
/// ", chosen with seed 3", ", fold 2 of 5".
std::string how_held_out(const SplitOptions& options);

/// An option that is at least 0 and below 1.
void describe_share(OptionList& list, const std::string& key, double& share,
                    const std::string& help);
/// The option validation_fraction: the share of the `rows` ("training texts") held out.
void describe_held_out(OptionList& list, double& fraction, const std::string& rows);
/// The option quotes.
void describe_quotes(OptionList& list, std::string& quotes);

/// The one value of a role, or `otherwise`. InvalidArgument when there are several.
std::string single_role(const Roles& roles, const std::string& role, const std::string& otherwise);
/// InvalidArgument for a role that the task does not know, and for roles without a file.
void check_roles(const DataSource& source, const std::vector<std::string>& known);

/// Where the columns of a role go: one, or all of them.
struct RolePlace {
  const char* role;
  std::variant<std::string*, std::vector<std::string>*> columns;
};
/// Puts the columns that have roles into these places, the only ones that the task knows. The
/// others stay as they are.
void apply_roles(const DataSource& source, const std::vector<RolePlace>& places);

}  // namespace fovea
