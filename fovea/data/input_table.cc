#include "fovea/data/input_table.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/json_rows.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/formats/unnamed_column.h"

namespace fovea {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_table_name(const std::string& name) {
  const std::string ending = small_ending(without_gz(name));
  return ending == ".csv" || ending == ".tsv" || ending == ".tab";
}

bool begins_json(std::string_view line) {
  line = trim(line);
  return !line.empty() && (line.front() == '{' || line.front() == '[');
}

/// Walks over a text record by record, skipping empty lines.
class InputRecords {
 public:
  explicit InputRecords(std::string_view content) : content_(content) {
    if (content_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  bool next(InputRecord& record) {
    while (at_ < content_.size()) {
      const size_t end = end_of_record();
      record = {content_.substr(at_, end - at_), line_};
      line_ += 1 + std::count(record.text.begin(), record.text.end(), '\n');
      at_ = end + 1;
      if (record.text.ends_with('\r')) record.text.remove_suffix(1);
      if (!trim(record.text).empty()) return true;
    }
    return false;
  }

 private:
  size_t line_end(size_t from) const {
    return std::min(content_.find('\n', from), content_.size());
  }

  /// A quote matters where a cell begins; one that is never closed is left to who reads the row.
  size_t end_of_record() const {
    size_t end = line_end(at_);
    const std::string_view first = content_.substr(at_, end - at_);
    if (begins_json(first) || first.find('"') == std::string_view::npos) return end;
    const char delimiter = delimiter_of(first);
    for (size_t cell = at_; cell < end;) {
      size_t from = cell;
      if (content_[cell] == '"') {
        const size_t close = closing_quote(cell + 1);
        if (close == std::string_view::npos) return end;
        from = close + 1;
        end = line_end(from);
      }
      cell = std::min(content_.find(delimiter, from), end) + 1;
    }
    return end;
  }

  /// "" inside quotes is one quote.
  size_t closing_quote(size_t from) const {
    size_t close = content_.find('"', from);
    while (close != std::string_view::npos && content_.substr(close + 1).starts_with('"'))
      close = content_.find('"', close + 2);
    return close;
  }

  std::string_view content_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

bool is_number(std::string_view cell) {
  double value = 0;
  return parse_cell(cell, value);
}

bool contains_name(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// For each of `names` the one of `wanted` that it stands for: where only the case differs, and no
/// other name stands for it; else itself.
std::vector<std::string> meant_names(std::span<const std::string> names,
                                     std::span<const std::string> wanted) {
  const std::unordered_set<std::string> given(names.begin(), names.end());
  std::unordered_map<std::string, std::string> by_lower;  // "": several
  for (const std::string& one : wanted)
    if (const auto [known, fresh] = by_lower.emplace(lower_ascii(one), one);
        !fresh && known->second != one)
      known->second.clear();
  std::unordered_map<std::string, int64_t> times;
  for (const std::string& name : names) ++times[lower_ascii(name)];
  std::vector<std::string> meant;
  for (const std::string& name : names) {
    const std::string lower = lower_ascii(name);
    const auto found = by_lower.find(lower);
    const bool stands = found != by_lower.end() && !found->second.empty() && times[lower] == 1 &&
                        !given.contains(found->second);
    meant.push_back(stands ? found->second : name);
  }
  return meant;
}

std::vector<std::string> all_names(const InputColumns& columns) {
  std::vector<std::string> names = columns.needed;
  for (const std::string& name : columns.known)
    if (!contains_name(columns.needed, name)) names.push_back(name);
  return names;
}

/// As a table has them, which names the columns without a name.
std::vector<std::string> with_unnamed(std::vector<std::string> names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].empty()) names[i] = unnamed_column(int64_t(i));
  return names;
}

/// The names that a first line would give to columns; none for a line that cannot be a header.
std::vector<std::string> names_in(std::string_view content, const std::string& name) {
  InputRecord record;
  if (!InputRecords(content).next(record)) return {};
  std::string_view first = record.text;
  first = first.substr(0, first.find('\r'));  // a file of such lines is refused as a table
  if (begins_json(first) || valid_utf8_prefix(first) != first.size()) return {};
  std::vector<std::string> names;
  for (const std::string& cell : parse_csv_line(first, csv_delimiter(name, first)))
    names.emplace_back(trim(cell));
  return names;
}

bool holds_needed(std::span<const std::string> names, const InputColumns& columns) {
  return std::all_of(columns.needed.begin(), columns.needed.end(),
                     [&](const std::string& needed) { return contains_name(names, needed); });
}

bool all_known(std::span<const std::string> names, const InputColumns& columns) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return contains_name(columns.needed, name) || contains_name(columns.known, name);
  });
}

/// A line that names columns, though not those that it should: numbers are no evidence, since a
/// column may be called 1.
bool names_some(std::span<const std::string> names, const InputColumns& columns) {
  std::unordered_set<std::string> needed;
  for (const std::string& name : columns.needed) needed.insert(lower_ascii(name));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return !is_number(name) && needed.contains(lower_ascii(name));
  });
}

}  // namespace

/// A table of texts without the column of texts: its lines are no texts.
[[noreturn]] static void fail_without_texts(std::span<const std::string> names,
                                            const std::string& name, const InputColumns& columns) {
  std::vector<std::string> missing, there;
  for (const std::string& needed : columns.needed)
    if (!contains_name(names, needed)) missing.push_back(needed);
  for (const std::string& one : names) there.push_back(shorten_bytes(one, 64));
  fail(ErrorKind::BadData, name, ":1: there is no column ", quoted_list(missing),
       suggestion(missing[0], names), "; the columns are: ", quoted_list(there, 30),
       ". Rename the one that holds it; lines of text without a header belong in a .txt file");
}

bool has_header(std::string_view content, const std::string& name, const InputColumns& columns) {
  const std::vector<std::string> named = meant_names(names_in(content, name), all_names(columns));
  if (std::ranges::all_of(named, &std::string::empty)) return false;
  const std::vector<std::string> names = with_unnamed(named);
  const bool known = all_known(names, columns);
  if (columns.texts && !is_table_name(name) && (names.size() < 2 || !known)) return false;
  if (holds_needed(names, columns)) return true;
  if (columns.texts && is_table_name(name)) fail_without_texts(names, name, columns);
  const bool numbers = std::any_of(names.begin(), names.end(), is_number);
  if (!names_some(named, columns) &&  // an empty cell may be a missing value
      (!known || numbers))
    return false;
  for (const std::string& needed : columns.needed)
    require(contains_name(names, needed), ErrorKind::BadData, name,
            ":1: the first line names columns, but '", needed, "' is not among them",
            suggestion(needed, names), "; this run needs ", quoted_list(columns.needed, 30),
            ". Rows without a header have no names of columns in their first line");
  return true;
}

bool is_header_line(const std::string& line, const InputColumns& columns) {
  if (begins_json(line)) return false;
  const std::string first = lower_ascii(columns.needed.front());
  if (lower_ascii(line).find(first) == std::string::npos) return false;  // nearly always
  std::vector<std::string> names;
  for (const std::string& cell : parse_csv_line(line, delimiter_of(line)))
    names.emplace_back(trim(cell));
  names = with_unnamed(meant_names(names, columns.needed));
  return holds_needed(names, columns) && !std::all_of(names.begin(), names.end(), is_number);
}

CsvTable parse_input_table(std::string content, const std::string& name,
                           const InputColumns& columns) {
  CsvOptions options;
  options.delimiter = csv_delimiter(name, content);
  options.quotes = columns.quotes == "auto"
                       ? options.delimiter != '\t' || small_ending(without_gz(name)) == ".csv"
                       : columns.quotes == "yes";
  CsvTable table = parse_csv(std::move(content), name, options);
  const std::string note = match_names(table, all_names(columns));
  if (!note.empty()) table.notes.push_back(note);
  return table;
}

std::string match_names(CsvTable& table, std::span<const std::string> names) {
  const std::vector<std::string> meant = meant_names(table.names, names);
  std::vector<std::string> changed;
  for (size_t i = 0; i < meant.size(); ++i)
    if (meant[i] != table.names[i])
      changed.push_back(concat("'", table.names[i], "' as '", meant[i], "'"));
  if (changed.empty()) return "";
  constexpr size_t kShown = 5;
  const size_t count = changed.size();
  changed.resize(std::min(count, kShown));
  table.names = meant;
  return concat(table.path,
                ": columns whose names differ only in their case are taken for the same: ",
                join(changed), count > kShown ? concat(" and ", count - kShown, " more") : "");
}

std::string match_keys(const std::string& line, const InputColumns& columns) {
  if (columns.needed.empty() || !is_json_object(line)) return line;
  const Json given = parse_json(line, "input");
  const std::vector<std::string> keys = keys_of(given);
  std::vector<std::string> meant = keys;
  if (columns.keys.empty()) {
    meant = meant_names(keys, all_names(columns));
  } else {
    meant = meant_names(meant_names(keys, columns.keys), columns.known);
    for (size_t i = 0; i < columns.keys.size(); ++i)
      if (const int64_t place = find_name(meant, columns.needed[i]);
          place >= 0 && !contains_name(meant, columns.keys[i]))
        meant[size_t(place)] = columns.keys[i];
  }
  if (meant == keys) return line;
  Json matched = Json::object();
  for (size_t i = 0; i < keys.size(); ++i) matched[meant[i]] = given[keys[i]];
  return matched.dump();
}

Json input_object(const CsvTable& table, int64_t row, const InputColumns& columns) {
  Json object = Json::object();
  for (size_t i = 0; i < columns.needed.size(); ++i) {
    const std::string& key = columns.keys.empty() ? columns.needed[i] : columns.keys[i];
    object[key] = std::string(table.cell(row, table.column(columns.needed[i])));
  }
  return object;
}

std::string unknown_columns_note(const CsvTable& table, std::span<const std::string> needed,
                                 std::span<const std::string> known) {
  std::unordered_set<std::string_view> all(known.begin(), known.end());
  all.insert(needed.begin(), needed.end());
  std::vector<std::string> unknown;
  for (const std::string& name : table.names)
    if (!all.contains(name)) unknown.push_back(name);
  if (unknown.empty()) return "";
  return concat(table.path, ": this run does not know ",
                unknown.size() == 1 ? "the column " : "the columns ", quoted_list(unknown),
                unknown.size() == 1 ? "; it is ignored" : "; they are ignored");
}

void note_unknown_columns(const CsvTable& table, std::span<const std::string> known,
                          std::vector<std::string>& notes) {
  const std::string note = unknown_columns_note(table, {}, known);
  if (!note.empty() && !contains_name(notes, note)) notes.push_back(note);
}

char delimiter_of(std::string_view line) {
  if (line.find('\t') != std::string_view::npos) return '\t';
  return line.find(',') == std::string_view::npos && line.find(';') != std::string_view::npos ? ';'
                                                                                              : ',';
}

std::vector<InputRecord> input_records(std::string_view content) {
  std::vector<InputRecord> records;
  InputRecords reading(content);
  for (InputRecord record; reading.next(record);) records.push_back(record);
  return records;
}

}  // namespace fovea
