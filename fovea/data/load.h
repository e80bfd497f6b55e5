// The one way from files, or from a generator, to data sets. A kind of data says how one file is
// read (Reader), what its generator draws (SplitRows of the same rows), what is learned from the
// training rows and how rows become a Dataset. Finding files, split columns, files called after
// splits, rows held out, hashes and notes are here, once. docs/formats/dataset.md states the rules.
// Rows are streamed (rows.h): a file is read once to count them, and again when something is
// learned from them and when they are encoded. Only those of small files and of pipes are kept.
//
//   SplitRows<Row> rows = source.path.empty() ? draw(options) : read_splits(source, split, reader);
//   return encode_splits(rows, fit, encode);
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/dataset.h"
#include "fovea/data/rows.h"
#include "fovea/data/source.h"

namespace fovea {

using Notes = std::vector<std::string>;

/// Where a reader puts rows: one at a time, with its split where a split column names it.
template <class Row>
using RowSink = std::function<void(Row&&, std::optional<Split>)>;

/// One file, read.
template <class Row>
struct FileRows {
  RowSink<Row> sink = {};  // what takes the rows; none: they are kept here
  std::vector<Row> rows = {};
  std::vector<Split> splits = {};  // of each row, by a split column; empty without one
  std::string hash = {};           // ContentHash of the file's bytes
  Notes notes = {};
  int64_t count = 0;        // rows, kept or not
  bool has_splits = false;  // of the first row

  void add(Row row, std::optional<Split> split = {}) {
    if (count++ == 0) has_splits = split.has_value();
    if (sink) return sink(std::move(row), split);
    rows.push_back(std::move(row));
    if (split) splits.push_back(*split);
  }
};

/// Rows of one split, as they were read or drawn.
template <class Row>
struct SplitRows {
  Rows<Row> train = {}, validation = {}, test = {};  // empty: there is no such split
  std::string hash = {};
  Notes notes = {};
  bool given = false;  // a split column, or files called after splits, say which row is in which

  Rows<Row>& operator[](int split) {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
  const Rows<Row>& operator[](int split) const {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
  bool empty() const { return train.empty() && validation.empty() && test.empty(); }
  /// job(row, split), in the order of the splits.
  template <class Job>
  void for_each(const Job& job) const {
    for (int split = 0; split < kSplitCount; ++split)
      (*this)[split].for_each([&](const Row& row) { job(row, Split(split)); });
  }
  /// change(row) for each row, now or whenever it is read.
  template <class Change>
  void transform(const Change& change) {
    for (int split = 0; split < kSplitCount; ++split)
      (*this)[split] = std::move((*this)[split]).template map<Row>([change](Row&& row) {
        change(row);
        return std::move(row);
      });
  }
};

using SplitFiles = std::array<std::optional<std::filesystem::path>, kSplitCount>;

/// Rows that are held out together.
template <class Row>
struct RowGroup {
  std::string word = {};                                // "source"
  std::function<std::string(const Row&)> name_of = {};  // empty: each row is a group of its own
};

/// How the files of a kind of data are read.
template <class Row>
struct Reader {
  std::vector<std::string> endings;  // of the files of a folder, each perhaps with .gz
  /// Adds the rows to a FileRows with this sink. It is called again whenever rows are needed again,
  /// so it must own what it uses.
  std::function<FileRows<Row>(const std::filesystem::path&, const RowSink<Row>&)> read;
  std::string rows = "texts";    // what messages call them
  std::string single_file = {};  // a folder may hold one file of this name instead: "visits"
  RowGroup<Row> group = {};
  /// Where files are not simply called after splits (find_split_files), and what messages say is
  /// expected instead.
  std::function<SplitFiles(const std::filesystem::path& folder)> find = {};
  std::string expected = {};
  bool keeps_rows = false;  // reading again would cost too much: pictures, sounds
};

/// The files of a folder that are called after a split (split_named) and have one of the endings,
/// each perhaps with .gz. BadData for two of one split.
SplitFiles find_split_files(const std::filesystem::path& folder,
                            const std::vector<std::string>& endings);

/// The one file of the folder that has this name and one of the endings, perhaps with .gz, where no
/// file is called after a split; else none. BadData for two.
std::optional<std::filesystem::path> find_single_file(const std::filesystem::path& folder,
                                                      const std::string& name,
                                                      const std::vector<std::string>& endings);

/// Calls read(truth) with what the dataset.json of a folder says is planted; not at all where the
/// source is a file, or nothing is planted.
void with_truth(const std::filesystem::path& source, const std::string& task,
                const std::function<void(const Field& truth)>& read);

/// How many steps of a series, or accesses of a trace, each split has: the earliest are for
/// training, the last for the test.
struct TimeSplit {
  int64_t train = 0, validation = 0, test = 0;
  int64_t& operator[](int split) {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
  int64_t operator[](int split) const {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
};
/// InvalidArgument when no training step is left.
TimeSplit split_in_time(int64_t steps, double validation_fraction, double test_fraction);

/// Rows with a label: classes are spread evenly over what is held out.
template <class Row>
constexpr bool has_class = requires(const Row& row) {
  std::string(row.label);
};

template <class Row>
std::string class_of_row(const Row& row) {
  if constexpr (has_class<Row>)
    return row.label;
  else
    return {};
}

/// Whether it is no pipe.
bool can_read_again(const std::filesystem::path& path);
/// Whether the file, or all files in the folder, have so many bytes at most.
bool holds_at_most(const std::filesystem::path& path, int64_t bytes);

/// Moves some training rows, whole groups of them, to validation: a share of them, when there are
/// none there, or one fold.
template <class Row>
void hold_out(SplitRows<Row>& rows, const std::string& path, const std::string& row_word,
              const SplitOptions& options, const RowGroup<Row>& group = {}) {
  if (options.folds > 0 && !rows.validation.empty()) {
    rows.notes.push_back(concat("folds are cut from the training ", row_word, "; the ",
                                format_count(rows.validation.size()),
                                " of the validation split are not used"));
    rows.validation = {};
  }
  const bool none = options.folds > 0 ? options.fold == options.folds : options.fraction == 0;
  if (rows.train.empty() || !rows.validation.empty() || none) return;
  std::unordered_map<std::string, int64_t> groups;
  std::vector<int64_t> group_of;  // of each row; empty: each is a group of its own
  RowClasses classes;             // of each group, by its first row
  if (group.name_of || has_class<Row>)
    rows.train.for_each([&](const Row& row) {
      const int64_t count = int64_t(groups.size());
      if (group.name_of)
        group_of.push_back(groups.emplace(group.name_of(row), count).first->second);
      if (!group.name_of || group_of.back() == count) classes.add(class_of_row(row));
    });
  const int64_t all = rows.train.size(), count = group.name_of ? int64_t(groups.size()) : all;
  require(count > 1, ErrorKind::BadData, path, ": has 1 ",
          group.name_of ? concat("different ", group.word)
                        : concat("training ", row_word.substr(0, row_word.size() - 1)),
          "; at least 2 are needed to hold one out");
  std::vector<bool> held(size_t(count), false);
  for (const int64_t one : hold_out_rows(count, options, classes).validation)
    held[size_t(one)] = true;
  if (group.name_of) {
    std::vector<bool> of_row;
    for (const int64_t own : group_of) of_row.push_back(held[size_t(own)]);
    held = std::move(of_row);
  }
  std::vector<int> splits;
  for (const bool is_held : held) splits.push_back(is_held ? kValidation : kTrain);
  std::array<Rows<Row>, kSplitCount> placed = std::move(rows.train).split(std::move(splits));
  rows.train = std::move(placed[kTrain]);
  rows.validation = std::move(placed[kValidation]);
  rows.notes.push_back(concat("validation: ", format_count(rows.validation.size()), " of the ",
                              format_count(all), " ", row_word, how_held_out(options)));
}

namespace load_details {

/// The rows of a file, which are in memory where it is small or cannot be read again.
template <class Row>
Rows<Row> open_rows(const std::filesystem::path& path, const Reader<Row>& reader,
                    int64_t kept_bytes, FileRows<Row>& file) {
  const bool keeps = reader.keeps_rows || !can_read_again(path) || holds_at_most(path, kept_bytes);
  std::vector<Split> splits;
  file = reader.read(
      path, keeps ? RowSink<Row>() : [&](Row&&, std::optional<Split> split) {
        if (split) splits.push_back(*split);
      });
  if (!keeps) file.splits = std::move(splits);
  require(file.splits.empty() || int64_t(file.splits.size()) == file.count, ErrorKind::BadData,
          path.string(), ": some ", reader.rows, " have a split and others have none");
  if (keeps) return std::move(file.rows);
  return {file.count, [read = reader.read, path, hash = file.hash](const auto& take) {
            const FileRows<Row> again =
                read(path, [&](Row&& row, std::optional<Split>) { take(std::move(row)); });
            require(again.hash == hash, ErrorKind::BadData, path.string(),
                    ": was changed while it was read; start again");
          }};
}

template <class Row>
void place_file(SplitRows<Row>& rows, const std::filesystem::path& path, const Reader<Row>& reader,
                const DataSource& source) {
  FileRows<Row> file;
  Rows<Row> all = open_rows(path, reader, source.kept_bytes, file);
  rows.hash = file.hash;
  rows.notes = std::move(file.notes);
  if (file.splits.empty()) {
    rows[source.whole ? kTest : kTrain] = std::move(all);
    return;
  }
  rows.given = true;
  std::array<Rows<Row>, kSplitCount> placed =
      std::move(all).split({file.splits.begin(), file.splits.end()});
  for (int split = 0; split < kSplitCount; ++split) rows[split] = std::move(placed[size_t(split)]);
  rows.notes.push_back(concat("split by the split column: ", format_count(rows.train.size()),
                              " training, ", format_count(rows.validation.size()), " validation, ",
                              format_count(rows.test.size()), " test ", reader.rows));
}

template <class Row>
void place_folder(SplitRows<Row>& rows, const std::filesystem::path& folder,
                  const std::string& task, const Reader<Row>& reader, const DataSource& source) {
  const SplitFiles files =
      reader.find ? reader.find(folder) : find_split_files(folder, reader.endings);
  rows.given = true;
  ContentHash hash;
  for (int split = 0; split < kSplitCount; ++split) {
    if (!files[size_t(split)]) continue;
    FileRows<Row> file;
    rows[split] = open_rows(*files[size_t(split)], reader, source.kept_bytes, file);
    require(file.splits.empty(), ErrorKind::BadData, files[size_t(split)]->string(),
            ": has a split column, but the folder already says that it is the ", kSplitNames[split],
            " split; remove the column");
    hash.add(concat(kSplitNames[split], "=", file.hash, "\n"));
    rows.notes.insert(rows.notes.end(), file.notes.begin(), file.notes.end());
  }
  const std::filesystem::path description = folder / "dataset.json";
  if (std::filesystem::exists(description)) {
    read_description(description, task);
    hash.add(hash_of_file(description));
  }
  rows.hash = hash.text();
}

}  // namespace load_details

/// Opens a file or a folder. A split column or the folder's files decide, otherwise all is for
/// training (or, with source.whole, for testing), and options.fraction of it is held out for
/// validation.
template <class Row>
SplitRows<Row> read_splits(const DataSource& source, const SplitOptions& given,
                           const Reader<Row>& reader) {
  SplitOptions options = given;
  options.folds = source.folds;
  options.fold = source.fold;
  std::filesystem::path path = source.path;
  require(std::filesystem::exists(path), ErrorKind::NotFound, path.string(),
          ": no such file or folder");
  if (!reader.single_file.empty() && std::filesystem::is_directory(path))
    path = find_single_file(path, reader.single_file, reader.endings).value_or(path);
  SplitRows<Row> rows;
  const bool folder = std::filesystem::is_directory(path);
  if (folder)
    load_details::place_folder(rows, path, options.task, reader, source);
  else
    load_details::place_file(rows, path, reader, source);
  const bool enough = options.needs_training ? !rows.train.empty() : !rows.empty();
  require(enough, folder ? ErrorKind::NotFound : ErrorKind::BadData, path.string(),
          folder ? concat(": the folder has no ",
                          options.needs_training ? "train" : "train, val or test", " file (",
                          reader.expected.empty() ? join(reader.endings) : reader.expected,
                          ", each perhaps with .gz)")
                 : concat(": no ", reader.rows.substr(0, reader.rows.size() - 1),
                          " belongs to the training split"));
  hold_out(rows, path.string(), reader.rows, options, reader.group);
  return rows;
}

/// Rows to data sets. `fit(rows, notes)` learns what is not known yet; `encode(rows, split,
/// notes)`, whose rows are its own to take, gives the data set of one split, or null where nothing
/// is left of it.
template <class Row, class Fit, class Encode>
Splits encode_splits(SplitRows<Row>& rows, Fit fit, Encode encode) {
  Splits splits;
  splits.hash = rows.hash;
  splits.notes = std::move(rows.notes);
  fit(rows, splits.notes);
  for (int split = 0; split < kSplitCount; ++split)
    if (!rows[split].empty())
      splits[split] = encode(std::move(rows[split]), Split(split), splits.notes);
  return splits;
}

/// Writes train, val and test files of the splits that have rows: `format(rows)`, or `format(rows,
/// name)` with the file's name before its ending, gives the content.
template <class Row, class Format>
void write_splits(const std::filesystem::path& folder, const SplitRows<Row>& rows,
                  const std::string& ending, Format format) {
  make_folder(folder);
  for (int split = 0; split < kSplitCount; ++split) {
    if (rows[split].empty()) continue;
    const std::string name = kSplitFileNames[split];
    if constexpr (std::is_invocable_v<Format, const std::vector<Row>&, const std::string&>)
      write_file(folder / (name + ending), format(rows[split].kept(), name));
    else
      write_file(folder / (name + ending), format(rows[split].kept()));
  }
}

}  // namespace fovea
