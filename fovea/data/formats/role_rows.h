// Rows whose cells have roles: CSV, TSV or JSON (json_rows.h), plain or gzip. Which column or key
// is what is said by roles (--columns user=reviewerID); without, it is called as the role is.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/json_rows.h"
#include "fovea/data/input_table.h"
#include "fovea/data/source.h"

namespace fovea {

inline const std::vector<std::string> kRoleEndings = {".csv",   ".tsv",    ".tab",
                                                      ".jsonl", ".ndjson", ".json"};

struct RoleOptions {
  std::vector<std::string> roles;        // of the cells, in their order; the last is "split"
  std::vector<std::string> needed = {};  // must be there, as must what `named` names
  std::vector<std::string> texts = {};   // must be texts in JSON; others may be numbers or yes/no
  std::vector<std::string> lists = {};   // roles that may be lists in JSON: RoleRow::list()
  std::string plural = {};  // another name for a role, where nobody names it and the first is not
  std::string plural_of = {};  // there: "labels" of "label"
  std::string several = {};    // a role that any number of columns or keys have, all of them needed
  Roles named = {};
  std::string quotes = "auto";           // yes, no; auto: quotes are text in a TSV, quote in a CSV
  bool reads_split = true;               // otherwise a split column is one that nobody asked for
  int64_t max_bytes = int64_t{4} << 30;  // unpacked
  const char* example = "";              // of a JSON row, for errors
};

struct RoleRow {
  std::vector<std::optional<std::string>> cells;               // nothing: not there, or null
  std::string place;                                           // path:line
  const SortedJson* json = nullptr;                            // all of a JSON row
  std::map<std::string, std::vector<std::string>> lists = {};  // by role
  bool is_plural = false;                 // RoleOptions::plural_of was found under its other name
  std::vector<std::string> several = {};  // in the order of RoleReader::several()

  /// The list that stands for a role; null where a single value does.
  std::vector<std::string>* list(const std::string& role) {
    const auto found = lists.find(role);
    return found == lists.end() ? nullptr : &found->second;
  }
};

class RoleReader {
 public:
  /// InvalidArgument for quotes that are no choice.
  explicit RoleReader(RoleOptions options) : options_(std::move(options)) {
    require(options_.quotes == "auto" || options_.quotes == "yes" || options_.quotes == "no",
            ErrorKind::InvalidArgument, "quotes is '", options_.quotes,
            "'; expected auto, yes or no");
    for (const std::string& role : options_.roles)
      names_.push_back(single_role(options_.named, role, role));
    if (const auto found = options_.named.find(options_.several); found != options_.named.end())
      several_ = found->second;
  }
  const std::string& name(size_t role) const { return names_[role]; }
  const std::vector<std::string>& several() const { return several_; }  // names

  /// take(row) for each row; its last cell is there only where a split column is in use. Returns
  /// the file's hash, and adds what reading had to guess to `notes`. BadData with path:line;
  /// NotFound for a column that is not there.
  template <class Take>
  std::string read(const std::filesystem::path& path, const Take& take,
                   std::vector<std::string>* notes = nullptr) const {
    return is_json_name(path) ? read_lines(path, take) : read_table(path, take, notes);
  }

  /// The same of a table that was read already.
  template <class Take>
  void read(const CsvTable& table, const Take& take) const {
    CsvTable named = table;
    match_names(named, wanted());
    const int64_t split = named.find(names_.back());
    read_some(named, split >= 0 && names_splits(named, split), take);
  }

  /// BadData: the JSON row has not what is needed.
  [[noreturn]] void missing(const RoleRow& row, size_t role) const {
    missing(row, names_[role], options_.roles[role]);
  }

 private:
  /// The rows of a table. `splits`: some cell of its split column names one.
  template <class Take>
  void read_some(const CsvTable& table, bool splits, const Take& take) const {
    std::vector<int64_t> columns, several;
    bool is_plural = false;
    for (size_t role = 0; role < names_.size(); ++role)
      columns.push_back(find_column(table, role, is_plural));
    for (const std::string& name : several_) several.push_back(table.column(name));
    if (!options_.reads_split || !(is_named(names_.size() - 1) || splits)) columns.back() = -1;
    for (int64_t index = 0; index < table.rows(); ++index) {
      RoleRow row{{}, table.place(index)};
      row.is_plural = is_plural;
      for (const int64_t column : columns)
        row.cells.push_back(column < 0 ? std::nullopt
                                       : std::optional(std::string(table.cell(index, column))));
      for (const int64_t column : several) row.several.emplace_back(table.cell(index, column));
      take(row);
    }
  }

  /// All names that columns may have.
  std::vector<std::string> wanted() const {
    std::vector<std::string> names = names_;
    names.insert(names.end(), several_.begin(), several_.end());
    if (!options_.plural.empty()) names.push_back(options_.plural);
    return names;
  }
  [[noreturn]] static void missing(const RoleRow& row, const std::string& key,
                                   const std::string& role) {
    const std::vector<std::string> keys = keys_of(*row.json);
    fail(ErrorKind::BadData, row.place, ": has no '", key, "'", suggestion(key, keys),
         "; say with --columns ", role, "=NAME which key holds the ", role,
         ". The keys are: ", join(keys));
  }
  bool is_named(size_t role) const { return options_.named.contains(options_.roles[role]); }
  bool is_needed(size_t role) const {
    return is_named(role) || contains(options_.needed, options_.roles[role]);
  }
  static bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }

  /// Whether the role may go by RoleOptions::plural.
  bool may_be_plural(size_t role) const {
    return options_.roles[role] == options_.plural_of && !is_named(role);
  }

  int64_t find_column(const CsvTable& table, size_t role, bool& is_plural) const {
    int64_t column = table.find(names_[role]);
    if (column < 0 && may_be_plural(role)) {
      column = table.find(options_.plural);
      is_plural = column >= 0;
    }
    if (column >= 0 || !is_needed(role)) return column;
    if (is_named(role)) table.column(names_[role]);  // names the nearest one
    fail(ErrorKind::NotFound, table.path, ": there is no column '", names_[role],
         "'; say which one holds the ", options_.roles[role], ": --columns ", options_.roles[role],
         "=NAME. The columns are: ", join(table.names));
  }

  template <class Take>
  std::string read_table(const std::filesystem::path& path, const Take& take,
                         std::vector<std::string>* notes) const {
    CsvOptions reading;
    reading.max_bytes = options_.max_bytes;
    reading.quotes =
        options_.quotes == "auto" ? plain_ending(path) == ".csv" : options_.quotes == "yes";
    CsvStream stream(path, reading);
    CsvTable named = stream.head();
    const std::string note = match_names(named, wanted());
    if (notes && !note.empty()) notes->push_back(note);
    const int64_t split = named.find(names_.back());
    const bool may_split = split >= 0 && options_.reads_split && !is_named(names_.size() - 1);
    const bool once = !std::filesystem::is_regular_file(path);  // a pipe: all of it, then
    bool splits = may_split && !once && names_splits(path, reading, split);
    for (CsvTable table; stream.next(table, may_split && once ? INT64_MAX : kRowsTogether);) {
      table.names = named.names;
      if (may_split && once) splits = names_splits(table, split);
      read_some(table, splits, take);
    }
    const CsvTable& head = stream.head();
    if (notes) notes->insert(notes->end(), head.notes.begin(), head.notes.end());
    return head.hash;
  }

  template <class Take>
  std::string read_lines(const std::filesystem::path& path, const Take& take) const {
    const size_t split = names_.size() - 1;
    std::optional<bool> has_split;  // as the first row decides
    const auto read_row = [&](const SortedJson& json, const std::string& place) {
      RoleRow row{{}, place};
      row.json = &json;
      for (size_t role = 0; role <= split; ++role) row.cells.push_back(read_value(row, role));
      read_several(row);
      std::optional<std::string>& named = row.cells[split];
      if (!has_split)
        has_split =
            options_.reads_split && (is_named(split) || (named && split_named(*named) >= 0));
      if (!*has_split) named.reset();
      if (*has_split && !named) missing(row, split);
      take(row);
    };
    return for_each_json_row(path, options_.max_bytes, options_.example, read_row);
  }

  std::optional<std::string> read_value(RoleRow& row, size_t role) const {
    auto found = find_key(*row.json, names_[role]);
    if (found == row.json->end() && may_be_plural(role)) {
      found = find_key(*row.json, options_.plural);
      row.is_plural = found != row.json->end();
    }
    if (found == row.json->end() && is_needed(role)) missing(row, role);
    if (found == row.json->end()) return {};
    const std::string& name = options_.roles[role];
    if (!found->is_array() || !contains(options_.lists, name))
      return to_text(*found, names_[role], row.place, contains(options_.texts, name));
    std::vector<std::string>& list = row.lists[name];
    for (const SortedJson& one : *found)
      list.push_back(to_text(one, names_[role], row.place, false).value_or(""));
    return {};
  }

  void read_several(RoleRow& row) const {
    for (const std::string& key : several_) {
      const auto found = find_key(*row.json, key);
      if (found == row.json->end()) missing(row, key, options_.several);
      row.several.push_back(to_text(*found, key, row.place, false).value_or(""));
    }
  }

  static std::optional<std::string> to_text(const SortedJson& value, const std::string& key,
                                            const std::string& place, bool only_text) {
    if (value.is_null()) return {};
    require(value.is_string() || (!only_text && value.is_primitive()), ErrorKind::BadData, place,
            ": '", key, "' is ", value.type_name(), "; expected ",
            only_text ? "a text" : "a text, a number, true or false");
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  static constexpr int64_t kRowsTogether = 4096;
  RoleOptions options_;
  std::vector<std::string> names_;  // of the columns or keys, by role
  std::vector<std::string> several_;
};

}  // namespace fovea
