#include "fovea/data/documents/reader.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/code_points.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/text_lines.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kEndings = {".csv", ".tsv", ".tab", ".jsonl", ".ndjson"};

std::string ending_of(const fs::path& path) {
  return (path.extension() == ".gz" ? path.stem() : path).extension().string();
}

/// What the columns are called. A name that nobody gave may be missing, unless it is the text's.
struct Columns {
  explicit Columns(const Roles& roles)
      : text(single_role(roles, "text", "text")),
        second(single_role(roles, "second", "second")),
        label(single_role(roles, "label", "label")),
        split(single_role(roles, "split", "split")),
        names_second(roles.contains("second")),
        names_split(roles.contains("split")) {}

  std::string text, second, label, split;
  bool names_second, names_split;
};

/// Collects rows; leaves out and counts what cannot be used.
class Rows {
 public:
  explicit Rows(bool needs_label) : needs_label_(needs_label) {}

  /// `part` is the split column's cell, or null.
  void add(LabelledText row, const std::string* part, const std::string& place) {
    const auto is_empty = [](const std::string& text) { return trim(text).empty(); };
    if (is_empty(row.text)) {
      ++without_text_;
    } else if (needs_label_ && is_empty(row.label)) {
      ++without_label_;
    } else {
      row.label = trim(row.label);
      result_.rows.push_back(std::move(row));
      if (part != nullptr) result_.splits.push_back(split_in_cell(*part, place));
    }
  }

  FileRows<LabelledText> take(const std::string& path, const std::string& hash) {
    result_.hash = hash;
    const auto note = [&](int64_t count, const char* what) {
      if (count > 0)
        result_.notes.push_back(
            concat(path, ": ", format_count(count), " rows without ", what, " were left out"));
    };
    note(without_text_, "a text");
    note(without_label_, "a label");
    require(!result_.rows.empty(), ErrorKind::BadData, path, ": holds no ",
            needs_label_ ? "labelled text" : "text");
    return std::move(result_);
  }

 private:
  bool needs_label_;
  int64_t without_text_ = 0, without_label_ = 0;
  FileRows<LabelledText> result_;
};

FileRows<LabelledText> read_table(const fs::path& path, const LabelledTextOptions& options) {
  const std::string ending = ending_of(path);
  CsvOptions reading;
  reading.max_bytes = options.max_bytes;
  reading.quotes = options.quotes == "auto" ? ending == ".csv" : options.quotes == "yes";
  const CsvTable table = read_csv(path, reading);
  const Columns columns(options.roles);
  const auto find = [&](const std::string& name, const char* role, bool needed) {
    const int64_t column = table.find(name);
    require(column >= 0 || !needed || options.roles.contains(role), ErrorKind::NotFound, table.path,
            ": there is no column '", name, "'; say which one holds the ", role, ": --columns ",
            role, "=NAME. The columns are: ", join(table.names));
    return column >= 0 || !needed ? column : table.column(name);  // which names the nearest one
  };
  const int64_t text = find(columns.text, "text", true);
  const int64_t second = find(columns.second, "second", columns.names_second);
  const int64_t label = find(columns.label, "label", options.needs_label);
  int64_t split = find(columns.split, "split", columns.names_split);
  if (split >= 0 && !columns.names_split && !names_splits(table, split)) split = -1;
  Rows rows(options.needs_label);
  for (int64_t row = 0; row < table.rows(); ++row) {
    const auto cell = [&](int64_t column) {
      return column < 0 ? std::string() : std::string(table.cell(row, column));
    };
    const std::string part = cell(split);
    rows.add({cell(text), cell(second), cell(label)}, split < 0 ? nullptr : &part,
             table.place(row));
  }
  return rows.take(table.path, table.hash);
}

const char* const kExampleRow = "{\"text\": \"…\", \"label\": \"…\"}";

/// The value of a key as text; false when the row does not have it.
bool read_value(const SortedJson& row, const std::string& key, bool only_text,
                const std::string& place, std::string& value) {
  const auto found = row.find(key);
  if (found == row.end() || found->is_null()) return false;
  const bool plain = found->is_string() || (!only_text && found->is_primitive());
  require(plain, ErrorKind::BadData, place, ": '", key, "' is ", found->type_name(), "; expected ",
          only_text ? "a text" : "a text, a number, true or false");
  value = found->is_string() ? found->get<std::string>() : found->dump();
  return true;
}

/// Words [W] and marks [W], or null, at the end of the text: blanks between words, a line end
/// behind the last one. False where they do not fit.
bool add_sentence(const SortedJson& words, const SortedJson* marks, int64_t& position,
                  LabelledText& text) {
  if (!words.is_array() || (marks && (!marks->is_array() || marks->size() != words.size())))
    return false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].is_string() || (marks && !(*marks)[i].is_number())) return false;
    const auto& word = words[i].get_ref<const std::string&>();
    const int64_t length = count_code_points(word);
    if (marks && (*marks)[i].get<double>() != 0)
      text.decisive.push_back({position, position + length});
    text.text += word + (i + 1 < words.size() ? ' ' : '\n');
    position += length + 1;
  }
  return true;
}

/// "sentences", lists of words, as a text; what "rationale", of the same shape, marks with another
/// number than 0 becomes spans. False without sentences.
bool read_sentences(const SortedJson& row, const std::string& place, LabelledText& text) {
  const auto sentences = row.find("sentences"), rationale = row.find("rationale");
  if (sentences == row.end()) return false;
  const bool is_marked = rationale != row.end() && !rationale->is_null();
  bool fits = sentences->is_array() &&
              (!is_marked || (rationale->is_array() && rationale->size() == sentences->size()));
  int64_t position = 0;  // in code points
  for (size_t i = 0; fits && i < sentences->size(); ++i)
    fits = add_sentence((*sentences)[i], is_marked ? &(*rationale)[i] : nullptr, position, text);
  require(fits, ErrorKind::BadData, place,
          ": \"sentences\" must be lists of words, [[\"it\", \"was\", \"dull\"], …], and "
          "\"rationale\" a number for each of them, [[0, 0, 1], …]");
  return true;
}

FileRows<LabelledText> read_json_lines(const fs::path& path, const LabelledTextOptions& options) {
  TextLines lines(path, options.max_bytes);
  const Columns columns(options.roles);
  Rows rows(options.needs_label);
  bool has_split = false, first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::string place = lines.place();
    const SortedJson json = parse_json_row(line, place, kExampleRow);
    const auto missing = [&](const std::string& key, const char* role) {
      std::vector<std::string> keys;
      for (const auto& item : json.items()) keys.push_back(item.key());
      fail(ErrorKind::BadData, place, ": has no '", key, "'", suggestion(key, keys), "; say with ",
           "--columns ", role, "=NAME which key holds the ", role, ". The keys are: ", join(keys));
    };
    LabelledText row;
    if (!read_value(json, columns.text, true, place, row.text) && !read_sentences(json, place, row))
      missing(columns.text, "text");
    if (!read_value(json, columns.second, true, place, row.second) && columns.names_second)
      missing(columns.second, "second");
    if (!read_value(json, columns.label, false, place, row.label) && options.needs_label &&
        !json.contains(columns.label))
      missing(columns.label, "label");
    std::string part;
    const bool named = read_value(json, columns.split, false, place, part);
    if (first) has_split = columns.names_split || (named && split_named(part) >= 0);
    first = false;
    if (has_split && !named) missing(columns.split, "split");
    rows.add(std::move(row), has_split ? &part : nullptr, place);
  }
  return rows.take(lines.path(), lines.hash());
}

}  // namespace

bool is_labelled_text(const fs::path& path) {
  return std::find(kEndings.begin(), kEndings.end(), ending_of(path)) != kEndings.end();
}

FileRows<LabelledText> read_labelled_text(const fs::path& path,
                                          const LabelledTextOptions& options) {
  require(options.quotes == "auto" || options.quotes == "yes" || options.quotes == "no",
          ErrorKind::InvalidArgument, "quotes is '", options.quotes, "'; expected auto, yes or no");
  const std::string ending = ending_of(path);
  return ending == ".jsonl" || ending == ".ndjson" ? read_json_lines(path, options)
                                                   : read_table(path, options);
}

SplitRows<LabelledText> open_labelled_text(const DataSource& source, const SplitOptions& split,
                                           LabelledTextOptions options) {
  check_roles(source, {"text", "second", "label", "split"});
  options.roles = source.roles;
  if (!split.split.empty()) options.roles["split"] = {split.split};
  return read_splits<LabelledText>(source, split, {kEndings, [&](const fs::path& path) {
                                                     return read_labelled_text(path, options);
                                                   }});
}

}  // namespace fovea
