#include "fovea/data/source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/formats/table.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostTexts = 10'000'000;  // that dataset.json tells the truth about, as keys

/// The words that name a split, in a split column and as a file's name.
const std::array<std::vector<std::string>, kSplitCount> kWords{
    {{"train", "training"}, {"val", "dev", "validation", "valid"}, {"test"}}};

/// The split column's name, or "".
std::string find_split_column(const TableRows& rows, const std::string& wanted) {
  const CsvTable& head = rows.head();
  if (!wanted.empty()) return head.names[size_t(head.column(wanted))];
  if (head.find("split") < 0) return "";
  const CsvTable table = rows.with_column("split");
  return names_splits(table, table.column("split")) ? "split" : "";
}

void split_by_column(SourceTables& tables, const TableRows& all) {
  const CsvTable table = all.with_column(tables.split_column);
  const int64_t column = table.column(tables.split_column);
  std::array<std::vector<int64_t>, kSplitCount> rows;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const int split = split_named(table.cell(row, column));
    if (split < 0)
      fail(ErrorKind::BadData, table.place(row), ": split column '", tables.split_column, "' is '",
           table.cell(row, column), "'; expected train, val (or dev, valid, validation) or test");
    rows[size_t(split)].push_back(row);
  }
  for (int split = 0; split < kSplitCount; ++split)
    if (!rows[size_t(split)].empty()) tables[split] = all.select(rows[size_t(split)]);
  tables.notes.push_back(concat("split by column '", tables.split_column,
                                "': ", format_count(int64_t(rows[kTrain].size())), " training, ",
                                format_count(int64_t(rows[kValidation].size())), " validation, ",
                                format_count(int64_t(rows[kTest].size())), " test rows"));
}

void open_file(SourceTables& tables, const DataSource& source, const SplitOptions& options) {
  TableRows table(source.path, source.kept_bytes);
  tables.hash = table.head().hash;
  tables.notes = table.head().notes;
  tables.split_column = find_split_column(table, options.split);
  if (!tables.split_column.empty()) {
    split_by_column(tables, table);
  } else if (source.whole) {
    tables.test = std::move(table);
  } else {
    tables.train = std::move(table);
  }
}

void open_folder(SourceTables& tables, const DataSource& source, const SplitOptions& options) {
  ContentHash hash;
  for (int split = 0; split < kSplitCount; ++split)
    if (const auto path = find_file(source.path, kWords[size_t(split)], table_endings())) {
      tables[split] = TableRows(*path, source.kept_bytes);
      const CsvTable& head = tables[split]->head();
      tables.notes.insert(tables.notes.end(), head.notes.begin(), head.notes.end());
      hash.add(concat(kWords[size_t(split)][0], "=", head.hash, "\n"));
    }
  const fs::path description = source.path / "dataset.json";
  if (fs::exists(description)) {
    tables.description = read_description(description, options.task);
    hash.add(hash_of_file(description));
  }
  tables.hash = hash.text();
  if (tables.train) tables.split_column = find_split_column(*tables.train, options.split);
}

/// Cuts validation rows off the training rows when there are none.
void hold_out(SourceTables& tables, const SplitOptions& options) {
  if (options.folds > 0 && tables.validation) {
    tables.notes.push_back(concat("folds are cut from the training rows; the ",
                                  format_count(tables.validation->rows()),
                                  " validation rows are not used"));
    tables.validation.reset();
  }
  const bool none = options.folds > 0 ? options.fold == options.folds : options.fraction == 0;
  if (!tables.train || tables.validation || none) return;
  const TableRows all = *std::move(tables.train);
  require(all.rows() > 1, ErrorKind::BadData, all.head().path,
          ": has 1 training row; at least 2 are needed to hold one out");
  RowClasses classes;
  const std::string target = options.stratify ? find_target(all.head(), *options.stratify) : "";
  if (!target.empty()) {
    const CsvTable table = all.with_column(target);
    const int64_t column = table.column(target);
    for (int64_t row = 0; row < table.rows(); ++row)
      classes.add(std::string(table.cell(row, column)));
  }
  const RowSplit rows = hold_out_rows(all.rows(), options, classes);
  tables.train = all.select(rows.train);
  tables.validation = all.select(rows.validation);
  tables.notes.push_back(concat("validation: ", format_count(int64_t(rows.validation.size())),
                                " of the ", format_count(all.rows()), " rows",
                                how_held_out(options)));
}

}  // namespace

std::optional<fs::path> find_file(const fs::path& folder, const std::vector<std::string>& names,
                                  const std::vector<std::string>& endings) {
  std::optional<fs::path> found;
  for (const std::string& name : names)
    for (const std::string& ending : endings)
      for (const char* packed : {"", ".gz"}) {
        const fs::path path = folder / (name + ending + packed);
        if (!fs::exists(path)) continue;
        require(!found, ErrorKind::BadData, folder.string(), ": holds both ",
                found ? found->filename().string() : "", " and ", path.filename().string(),
                "; remove one");
        found = path;
      }
  return found;
}

int split_named(std::string_view text) {
  std::string word(trim_cell(text));
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  for (int split = 0; split < kSplitCount; ++split)
    if (std::find(kWords[size_t(split)].begin(), kWords[size_t(split)].end(), word) !=
        kWords[size_t(split)].end())
      return split;
  return -1;
}

Split split_in_cell(std::string_view cell, const std::string& place) {
  const int split = split_named(cell);
  require(split >= 0, ErrorKind::BadData, place, ": the split column is '", cell,
          "'; expected train, val (or dev, valid, validation) or test");
  return Split(split);
}

bool names_splits(const CsvTable& table, int64_t column) {
  for (int64_t row = 0; row < table.rows(); ++row)
    if (split_named(table.cell(row, column)) >= 0) return true;
  return false;
}

bool names_splits(const fs::path& path, const CsvOptions& options, int64_t column) {
  constexpr int64_t kTogether = 4096;
  CsvStream stream(path, options);
  stream.keep_columns({column});
  for (CsvTable table; stream.next(table, kTogether);)
    if (names_splits(table, 0)) return true;
  return false;
}

Json read_description(const fs::path& path, const std::string& task) {
  JsonLimits limits;
  limits.keys = kMostTexts;
  Json json = read_json_file(path, limits);
  const Field root = Field::root(json, path.string());
  check_format(root, "fovea-dataset");
  if (const auto found = root.find("task"); found && !task.empty())
    require(found->value() == task, ErrorKind::BadData, path.string(),
            ": holds data for the task \"", shorten_bytes(found->text(), 64), "\", not for \"",
            task, "\"");
  if (const auto found = root.find("standardise"))
    found->expect(found->value() == "yes" || found->value() == "no", "\"yes\" or \"no\"");
  return json;
}

void write_description(const fs::path& folder, const std::string& task, const Json& generator,
                       const Json& more) {
  Json description{{"format", "fovea-dataset"}, {"version", 1}, {"task", task}};
  if (!more.is_null()) description.update(more);
  if (!generator.is_null()) description["generator"] = generator;
  write_json_file(folder / "dataset.json", description);
}

std::string hash_of_built_in(const std::string& task, const Json& generator) {
  ContentHash hash;
  hash.add(concat(task, " ", generator.dump()));
  return hash.text();
}

std::string place_of(const DataSource& source, int split, const std::string& what) {
  return source.path.empty() ? what : concat(source.path.string(), " (", kSplitNames[split], ")");
}

RowSplit split_rows(int64_t rows, double fraction, uint64_t seed) {
  constexpr double kShare = 0.2, kEnoughRows = 2000, kEnoughShare = 0.05;
  if (fraction < 0)
    fraction =
        std::min(kShare, std::max(kEnoughShare, kEnoughRows / double(std::max<int64_t>(1, rows))));
  require(fraction >= 0 && fraction < 1, ErrorKind::InvalidArgument, "validation fraction ",
          fraction, " is not in [0, 1)");
  RowSplit split;
  const std::vector<int64_t> order = Random(seed).split("validation rows").permutation(rows);
  const int64_t count = fraction == 0 ? 0
                                      : std::clamp<int64_t>(std::llround(fraction * double(rows)),
                                                            1, std::max<int64_t>(rows - 1, 0));
  split.validation.assign(order.begin(), order.begin() + count);
  split.train.assign(order.begin() + count, order.end());
  std::sort(split.validation.begin(), split.validation.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

namespace {

/// Texts, or few values: not a number to predict.
bool are_classes(const std::map<std::string, int64_t>& values) {
  constexpr size_t kFewValues = 20;
  std::vector<std::string_view> cells;
  for (const auto& [cell, place] : values) cells.push_back(trim_cell(cell));
  return values.size() <= kFewValues || !NumberFormat::infer(cells, ',');
}

/// A class whose only rows are held out could not be learnt: its first row is for training.
void keep_every_class(std::span<const int32_t> class_of, RowSplit& split) {
  std::set<int64_t> learnt;
  for (const int64_t row : split.train) learnt.insert(class_of[size_t(row)]);
  std::vector<int64_t> held;
  for (const int64_t row : split.validation)
    (learnt.insert(class_of[size_t(row)]).second ? split.train : held).push_back(row);
  if (!held.empty()) split.validation = std::move(held);
}

}  // namespace

RowSplit hold_out_rows(int64_t rows, const SplitOptions& options, const RowClasses& classes) {
  require(options.folds <= rows, ErrorKind::InvalidArgument, "--folds ", options.folds,
          ": there are only ", rows, " rows to cut into folds");
  const auto& [numbers, class_of] = classes;
  const bool stratified = numbers.size() > 1 && int64_t(numbers.size()) <= rows / 2;
  if (options.folds == 0 && !stratified) return split_rows(rows, options.fraction, options.seed);
  std::vector<int64_t> order = Random(options.seed).split("validation rows").permutation(rows);
  if (stratified)
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return classes.class_of[size_t(a)] < classes.class_of[size_t(b)];
    });
  const int64_t count = int64_t(split_rows(rows, options.fraction, options.seed).validation.size());
  RowSplit split;
  for (int64_t i = 0; i < rows; ++i) {  // every so many-th, class by class
    const bool held = options.folds > 0 ? i % options.folds == options.fold
                                        : (i + 1) * count / rows > i * count / rows;
    (held ? split.validation : split.train).push_back(order[size_t(i)]);
  }
  if (stratified && are_classes(numbers)) keep_every_class(class_of, split);
  std::sort(split.validation.begin(), split.validation.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

std::string how_held_out(const SplitOptions& options) {
  return options.folds > 0 ? concat(", fold ", options.fold + 1, " of ", options.folds)
                           : concat(", chosen with seed ", options.seed);
}

SourceTables open_source(const DataSource& source, const SplitOptions& given) {
  SplitOptions options = given;
  options.folds = source.folds;
  options.fold = source.fold;
  SourceTables tables;
  require(fs::exists(source.path), ErrorKind::NotFound, source.path.string(),
          ": no such file or folder");
  const bool folder = fs::is_directory(source.path);
  if (folder) {
    open_folder(tables, source, options);
  } else {
    open_file(tables, source, options);
  }
  const std::string path = source.path.string();
  if (options.needs_training)
    require(tables.train.has_value(), folder ? ErrorKind::NotFound : ErrorKind::BadData, path,
            folder ? ": the folder has no train.csv (or .tsv, .csv.gz, .tsv.gz)"
                   : ": no row belongs to the training split");
  else
    require(tables.train || tables.validation || tables.test, ErrorKind::NotFound, path,
            ": the folder has no train, val or test file (.csv, .tsv, .csv.gz, .tsv.gz)");
  hold_out(tables, options);
  return tables;
}

void describe_share(OptionList& list, const std::string& key, double& share,
                    const std::string& help) {
  list.add(key, share, help).rate();
}

void describe_held_out(OptionList& list, double& fraction, const std::string& rows) {
  describe_share(list, "validation_fraction", fraction,
                 concat("share of the ", rows, " held out when the data has no validation split"));
}

void describe_quotes(OptionList& list, std::string& quotes) {
  list.add("quotes", quotes, "whether quotes quote; auto: in a CSV, not in a TSV")
      .choices({"auto", "yes", "no"});
}

std::string single_role(const Roles& roles, const std::string& role, const std::string& otherwise) {
  const auto found = roles.find(role);
  if (found == roles.end() || found->second.empty()) return otherwise;
  require(found->second.size() == 1, ErrorKind::InvalidArgument, "the role '", role,
          "' can have one column, it has ", found->second.size(), ": ", quoted_list(found->second));
  return found->second[0];
}

void check_roles(const DataSource& source, const std::vector<std::string>& known) {
  require(!source.path.empty() || source.roles.empty(), ErrorKind::InvalidArgument,
          "column roles need a data file; the built-in data has its own columns");
  require(!known.empty() || source.roles.empty(), ErrorKind::InvalidArgument,
          "--columns: the files of this task have no columns to name");
  for (const auto& [role, columns] : source.roles)
    require(std::find(known.begin(), known.end(), role) != known.end(), ErrorKind::InvalidArgument,
            "there is no column role '", role, "'", suggestion(role, known),
            "; the roles are: ", join(known));
}

void apply_roles(const DataSource& source, const std::vector<RolePlace>& places) {
  std::vector<std::string> known;
  for (const RolePlace& place : places) known.emplace_back(place.role);
  check_roles(source, known);
  for (const auto& [role, columns] : places)
    if (auto* const* one = std::get_if<std::string*>(&columns))
      **one = single_role(source.roles, role, **one);
    else if (source.roles.contains(role))
      *std::get<std::vector<std::string>*>(columns) = source.roles.at(role);
}

}  // namespace fovea
