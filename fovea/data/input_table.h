// Tables of inputs, for answers. One rule for every task: the first line of a file is a header when
// it holds the columns that the run needs, in any order and among any others; a name that differs
// only in its case is the same. Whatever names some of them, but not all, is a mistake and never
// taken for a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/data/formats/csv.h"

namespace fovea {

/// The columns of a table of inputs.
struct InputColumns {
  std::vector<std::string> needed;  // all of them make a header
  std::vector<std::string> known;   // may be there and say nothing about an input: target, split
  std::vector<std::string> keys;    // of a JSON input, one for each of `needed`; empty: the same
  std::string quotes = "yes";  // yes, no; auto: not where tabs separate the cells of another file
                               // than a .csv
  /// Any line is an input, so that commas in one mean little: there a header has nothing but known
  /// names, two at least, unless the file's name says that it is a table (.csv .tsv .tab); then the
  /// first line is a header always.
  bool texts = false;
  std::string truth = "";  // the column with the right answer, where a file may have it
};

/// Whether the first line of `content` is a header. BadData, beginning with `name`, where it names
/// some of the needed columns but not all.
bool has_header(std::string_view content, const std::string& name, const InputColumns& columns);

/// Whether one line, which can only be a row of these columns, is a header.
bool is_header_line(const std::string& line, const InputColumns& columns);

/// Columns whose names differ from these only in their case get these. A sentence that says so, or
/// "".
std::string match_names(CsvTable& table, std::span<const std::string> names);

/// The table that has_header() found, with the names that the run knows.
CsvTable parse_input_table(std::string content, const std::string& name,
                           const InputColumns& columns);

/// The input with the keys that the run knows, where it is a JSON object with names in another case
/// or with the columns of a table for keys; else as it is.
std::string match_keys(const std::string& line, const InputColumns& columns);

/// The needed cells of a row as a JSON input.
Json input_object(const CsvTable& table, int64_t row, const InputColumns& columns);

/// "new.csv: 'order', 'date': this run does not know these columns; they are ignored", or "" where
/// it knows all of them.
std::string unknown_columns_note(const CsvTable& table, std::span<const std::string> needed,
                                 std::span<const std::string> known);

/// Adds that note, once for all parts of a file.
void note_unknown_columns(const CsvTable& table, std::span<const std::string> known,
                          std::vector<std::string>& notes);

/// Tab where there is one, else semicolon where there is one and no comma, else comma.
char delimiter_of(std::string_view line);

/// One record of a text without a header: a line, or several where a line end stands in quotes.
struct InputRecord {
  std::string_view text;  // without its line end
  int64_t line = 1;       // where it begins
};
/// Empty lines are left out, a byte order mark too. A line that begins with { or [ is JSON and ends
/// where it ends.
std::vector<InputRecord> input_records(std::string_view content);

}  // namespace fovea
