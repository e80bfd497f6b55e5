#include "fovea/data/documents/reader.h"

#include <algorithm>

#include "fovea/data/code_points.h"
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

}  // namespace

bool is_labelled_text(const fs::path& path) {
  return std::find(kRoleEndings.begin(), kRoleEndings.end(), role_ending(path)) !=
         kRoleEndings.end();
}

FileRows<LabelledText> read_labelled_text(const fs::path& path,
                                          const LabelledTextOptions& options) {
  RoleOptions reading;
  reading.roles = {"text", "second", "label", "split"};
  reading.texts = {"text", "second"};
  if (!is_json_lines(path)) reading.needed.push_back("text");  // in JSON sentences may stand for it
  if (options.needs_label) reading.needed.push_back("label");
  reading.named = options.roles;
  reading.quotes = options.quotes;
  reading.max_bytes = options.max_bytes;
  reading.example = "{\"text\": \"…\", \"label\": \"…\"}";
  const RoleReader reader(reading);
  FileRows<LabelledText> file;
  int64_t without_text = 0, without_label = 0;
  file.hash = reader.read(path, [&](RoleRow& row) {
    LabelledText text{row.cells[kTextCell].value_or(""), row.cells[kSecondCell].value_or(""),
                      std::string(trim(row.cells[kLabelCell].value_or("")))};
    if (row.json && !row.cells[kTextCell] && !read_sentences(*row.json, row.place, text))
      reader.missing(row, kTextCell);
    if (trim(text.text).empty()) {
      ++without_text;
    } else if (options.needs_label && text.label.empty()) {
      ++without_label;
    } else {
      file.rows.push_back(std::move(text));
      if (row.cells[kSplitCell])
        file.splits.push_back(split_in_cell(*row.cells[kSplitCell], row.place));
    }
  });
  const auto note = [&](int64_t count, const char* what) {
    if (count > 0)
      file.notes.push_back(concat(path.string(), ": ", format_count(count), " rows without ", what,
                                  " were left out"));
  };
  note(without_text, "a text");
  note(without_label, "a label");
  require(!file.rows.empty(), ErrorKind::BadData, path.string(), ": holds no ",
          options.needs_label ? "labelled text" : "text");
  return file;
}

SplitRows<LabelledText> open_labelled_text(const DataSource& source, const SplitOptions& split,
                                           LabelledTextOptions options) {
  check_roles(source, {"text", "second", "label", "split"});
  options.roles = source.roles;
  if (!split.split.empty()) options.roles["split"] = {split.split};
  return read_splits<LabelledText>(source, split, {kRoleEndings, [&](const fs::path& path) {
                                                     return read_labelled_text(path, options);
                                                   }});
}

}  // namespace fovea
