#include "fovea/data/documents/reader.h"

#include <algorithm>
#include <map>

#include "fovea/base/code_points.h"
#include "fovea/base/names.h"
#include "fovea/data/class_folders.h"
#include "fovea/data/documents/text_files.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/formats/role_rows.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr size_t kTextCell = 0, kSecondCell = 1, kLabelCell = 2, kSplitCell = 3;  // of a RoleRow

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

const std::vector<std::string> kLineEndings = {".txt", ".ft", ".fasttext"};  // text_files.h

/// What others call the columns text, second and label.
const std::map<std::string, std::vector<std::string>> kOtherNames{
    {"text",
     {"sentence", "review", "content", "comment", "message", "document", "tweet", "body",
      "sentence1", "text_a", "text1", "premise", "question1"}},
    {"second", {"sentence2", "text_b", "text2", "text_pair", "hypothesis", "question2"}},
    {"label",
     {"class", "category", "sentiment", "target", "y", kLabelsColumn, "score", "similarity"}}};

/// The columns of a table, or the keys of its first JSON row; none where the first line is neither.
std::vector<std::string> names_at_top(const fs::path& path) {
  if (plain_ending(path) == ".json") return {};  // may be all one line
  const std::string line = first_line(path);
  if (line.empty() || valid_utf8_prefix(line) < line.size()) return {};
  std::vector<std::string> names;
  if (is_json_name(path)) {
    if (!SortedJson::accept(line)) return {};
    const SortedJson row = parse_sorted_json(line, path.string());
    if (row.is_object())
      for (const auto& item : row.items()) names.push_back(item.key());
    return names;
  }
  const char delimiter = csv_delimiter(path, line);
  const bool quoted =
      plain_ending(path) == ".csv" && std::count(line.begin(), line.end(), '"') % 2 == 0;
  for (const std::string& cell : quoted ? parse_csv_line(line, delimiter) : split(line, delimiter))
    names.emplace_back(trim(cell));
  return names;
}

/// The user's roles; a column that nobody named and that is missing may be called otherwise.
Roles named_roles(const fs::path& path, const LabelledTextOptions& options, Notes& notes) {
  Roles roles = options.roles;
  if (!roles.contains("label") && roles.contains("target")) roles["label"] = roles["target"];
  roles.erase("target");
  if (!fs::exists(path)) return roles;
  const std::vector<std::string> names = names_at_top(path);
  const auto has = [&](const std::string& name) { return find_name(names, name) >= 0; };
  if (const auto asked = roles.find("label"); asked != roles.end()) {
    const std::vector<std::string> parts = asked->second.size() == 1 && !has(asked->second[0])
                                               ? split(asked->second[0], ',')
                                               : asked->second;
    if (parts.size() > 1) {  // --target a,b,c: columns of 0 and 1
      roles.erase("label");
      for (const std::string& part : parts) roles[kLabelsColumn].emplace_back(trim(part));
    }
  }
  for (const auto& [role, others] : kOtherNames) {
    if (role == "label" && roles.contains(kLabelsColumn)) continue;
    if (roles.contains(role) || has(role) || has("sentences")) continue;
    std::vector<std::string> found;
    for (const std::string& other : others)
      if (has(other)) found.push_back(names[size_t(find_name(names, other))]);
    if (found.size() != 1) continue;  // which of several is meant cannot be known
    roles[role] = found;
    if (options.found) (*options.found)[role] = found;
    notes.push_back(concat(path.string(), ": the ", role, " is the column '", found[0], "'"));
  }
  return roles;
}

/// Files of lines without a header end in .txt; one that names text and label is a table all the
/// same.
bool has_header_line(const fs::path& path) {
  const std::string ending = plain_ending(path);
  if (std::find(kLineEndings.begin(), kLineEndings.end(), ending) == kLineEndings.end())
    return true;
  const std::vector<std::string> names = names_at_top(path);
  return find_name(names, "text") >= 0 && find_name(names, "label") >= 0;
}

bool holds_split_files(const fs::path& folder, const std::vector<std::string>& endings) {
  const SplitFiles files = find_split_files(folder, endings);
  return std::any_of(files.begin(), files.end(), [](const auto& file) { return file; });
}

}  // namespace

void put_labels(std::vector<std::string> labels, LabelledText& row) {
  labels = distinct_labels(std::move(labels));
  row.cell = LabelCell::List;
  row.label = join(labels, "|");
  row.labels = std::move(labels);
}

bool is_labelled_text(const fs::path& path) {
  return std::find(kRoleEndings.begin(), kRoleEndings.end(), plain_ending(path)) !=
         kRoleEndings.end();
}

FileRows<LabelledText> read_labelled_text(const fs::path& path, const LabelledTextOptions& options,
                                          const RowSink<LabelledText>& sink) {
  RoleOptions reading;
  reading.roles = {"text", "second", "label", "split"};
  reading.texts = {"text", "second"};
  if (!is_json_name(path)) reading.needed.push_back("text");  // in JSON sentences may stand for it
  FileRows<LabelledText> file{sink};
  reading.named = named_roles(path, options, file.notes);
  if (options.needs_label && !reading.named.contains(kLabelsColumn))
    reading.needed.push_back("label");
  reading.lists = {"label"};
  reading.several = kLabelsColumn;
  reading.quotes = options.quotes;
  reading.max_bytes = options.max_bytes;
  reading.example = "{\"text\": \"…\", \"label\": \"…\"}";
  const RoleReader reader(reading);
  const bool plural = reader.name(kLabelCell) == kLabelsColumn;
  int64_t without_text = 0, without_label = 0;
  const auto take = [&](RoleRow& row) {
    LabelledText text{row.cells[kTextCell].value_or(""), row.cells[kSecondCell].value_or(""),
                      std::string(trim(row.cells[kLabelCell].value_or("")))};
    if (row.json && !row.cells[kTextCell] && !read_sentences(*row.json, row.place, text))
      reader.missing(row, kTextCell);
    if (plural) text.cell = LabelCell::Perhaps;
    if (auto* labels = row.list("label")) put_labels(std::move(*labels), text);
    if (!reader.several().empty()) {
      std::vector<std::string> labels;
      for (size_t i = 0; i < row.several.size(); ++i)
        if (says_yes(row.several[i], reader.several()[i], row.place))
          labels.push_back(reader.several()[i]);
      put_labels(std::move(labels), text);
    }
    if (trim(text.text).empty()) {
      ++without_text;
    } else if (options.needs_label && text.label.empty() && text.cell == LabelCell::One) {
      ++without_label;
    } else {
      const auto& split = row.cells[kSplitCell];
      file.add(std::move(text),
               split ? std::optional(split_in_cell(*split, row.place)) : std::nullopt);
    }
  };
  file.hash = reader.read(path, take, &file.notes);
  const auto note = [&](int64_t count, const char* what) {
    if (count > 0)
      file.notes.push_back(concat(path.string(), ": ", format_count(count), " rows without ", what,
                                  " were left out"));
  };
  note(without_text, "a text");
  note(without_label, "a label");
  require(file.count > 0, ErrorKind::BadData, path.string(), ": holds no ",
          options.needs_label ? "labelled text" : "text");
  return file;
}

SplitRows<LabelledText> open_labelled_text(const DataSource& source, const SplitOptions& split,
                                           LabelledTextOptions options) {
  check_roles(source, {"text", "second", "label", "target", "split"});
  options.roles = source.roles;
  if (!split.split.empty()) options.roles["split"] = {split.split};
  Reader<LabelledText> reader;
  reader.endings = kRoleEndings;
  reader.endings.insert(reader.endings.end(), kLineEndings.begin(), kLineEndings.end());
  reader.read = [options](const fs::path& path, const RowSink<LabelledText>& sink) {
    const bool is_folder = fs::is_directory(path),
               fasttext = !is_folder && !is_json_name(path) && is_fasttext(path);
    const bool is_table = !is_folder && !fasttext && has_header_line(path);
    require(options.roles.empty() || is_table, ErrorKind::InvalidArgument, path.string(),
            ": --columns: such a ", is_folder ? "folder" : "file", " has no columns to name");
    if (is_folder) return read_text_folders(path, options.max_bytes, sink);
    if (fasttext) return read_fasttext(path, options.max_bytes, sink);
    return is_table ? read_labelled_text(path, options, sink)
                    : read_labelled_lines(path, options.max_bytes, sink);
  };
  const bool by_class =
      fs::is_directory(source.path) && !holds_split_files(source.path, reader.endings);
  if (by_class) refuse_pictures(source.path);
  if (by_class && holds_text_folders(source.path)) {
    reader.find = [&](const fs::path& folder) { return find_class_folders(folder, source.whole); };
    reader.expected = "train/CLASS/*.txt";
  }
  return read_splits<LabelledText>(source, split, reader);
}

}  // namespace fovea
