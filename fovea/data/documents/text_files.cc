#include "fovea/data/documents/text_files.h"

#include <array>
#include <set>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/data/class_folders.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/line_stream.h"
#include "fovea/data/formats/text_lines.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLabelMark = "__label__";
const std::string kUnlabelled = "unsup";  // a folder of the IMDB reviews that is no class

void note_left_out(FileRows<LabelledText>& file, const std::string& path, int64_t count) {
  if (count > 0)
    file.notes.push_back(
        concat(path, ": ", format_count(count), " rows without a text were left out"));
  require(file.count > 0, ErrorKind::BadData, path, ": holds no labelled text");
}

/// The first word of the text, which is cut off.
std::string take_word(std::string_view& text) {
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string word(text.substr(0, end));
  text = trim(text.substr(end));
  return word;
}

/// Files that hold a text: .txt, or without an ending as in 20 newsgroups.
bool is_text_name(const fs::path& path) {
  const std::string ending = small_ending(path);
  if (ending == ".txt" || ending == ".text" || ending.empty()) return true;
  double number = 0;
  return parse_number(ending.substr(1), number);  // "review.17"
}

/// Whether a line begins with two of fastText's labels or more.
bool has_several_labels(const fs::path& path, int64_t max_bytes) {
  TextLines lines(path, max_bytes);
  for (std::string_view line; lines.next(line);) {
    std::string_view text = trim(line);
    take_word(text);
    if (text.starts_with(kLabelMark)) return true;
  }
  return false;
}

std::string latin1_to_utf8(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) append_code_point(static_cast<unsigned char>(byte), text);
  return text;
}

}  // namespace

std::string first_line(const fs::path& path) {
  if (!can_read_again(path)) return "";
  try {
    LineStream lines(path);
    for (std::string_view line; lines.next(line);) {
      if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (!trim(line).empty()) return std::string(line);
    }
  } catch (const Error&) {
  }
  return "";
}

bool is_fasttext(const fs::path& path) {
  return trim(first_line(path)).starts_with(kLabelMark);
}

FileRows<LabelledText> read_fasttext(const fs::path& path, int64_t max_bytes,
                                     const RowSink<LabelledText>& sink) {
  // Where any line has several labels the rows of all lines have lists of them.
  const bool lists = has_several_labels(path, max_bytes);
  TextLines lines(path, max_bytes);
  FileRows<LabelledText> file{sink};
  int64_t without_text = 0;
  for (std::string_view line; lines.next(line);) {
    std::string_view text = trim(line);
    if (text.empty()) continue;
    require(text.starts_with(kLabelMark), ErrorKind::BadData, lines.place(),
            ": does not begin with ", kLabelMark, " as the lines before it do");
    std::vector<std::string> labels;
    while (text.starts_with(kLabelMark)) {
      labels.push_back(take_word(text).substr(kLabelMark.size()));
      require(!labels.back().empty(), ErrorKind::BadData, lines.place(), ": ", kLabelMark,
              " names no label");
    }
    without_text += text.empty();
    if (text.empty()) continue;
    LabelledText row{std::string(text), "", labels[0]};
    if (lists) put_labels(std::move(labels), row);
    file.add(std::move(row));
  }
  file.hash = lines.hash();
  note_left_out(file, path.string(), without_text);
  return file;
}

FileRows<LabelledText> read_labelled_lines(const fs::path& path, int64_t max_bytes,
                                           const RowSink<LabelledText>& sink) {
  // Which column is the label is known behind the last line: the lines are read twice, or kept.
  std::set<std::string> values[2];
  std::vector<std::array<std::string, 2>> kept;
  const bool once = !can_read_again(path);
  FileRows<LabelledText> file{sink};
  const auto read = [&](const auto& take) {
    TextLines lines(path, max_bytes);
    for (std::string_view line; lines.next(line);) {
      if (trim(line).empty()) continue;
      const std::vector<std::string> cells = split(line, '\t');
      require(cells.size() == 2, ErrorKind::BadData, lines.place(), ": has ", cells.size(),
              cells.size() == 1 ? " column" : " columns",
              "; expected a label and a text with a tab between them, __label__NAME and a text, or "
              "a table with a header (.csv, .tsv, .jsonl)");
      take({std::string(trim(cells[0])), std::string(trim(cells[1]))});
    }
    file.hash = lines.hash();
  };
  read([&](std::array<std::string, 2> cells) {
    for (size_t i = 0; i < 2; ++i) values[i].insert(cells[i]);
    if (once) kept.push_back(std::move(cells));
  });
  const bool label_first = values[0].size() < values[1].size();
  int64_t empty = 0;
  const auto add = [&](std::array<std::string, 2> cells) {
    auto& [text, label] = cells;
    if (label_first) std::swap(text, label);
    if (text.empty() || label.empty())
      ++empty;
    else
      file.add({std::move(text), "", std::move(label)});
  };
  if (once)
    for (auto& cells : kept) add(std::move(cells));
  else
    read(add);
  file.notes.push_back(concat(path.string(), ": column ", label_first ? 1 : 2, " is the label (",
                              format_count(int64_t(values[label_first ? 0 : 1].size())),
                              " different ones), column ", label_first ? 2 : 1, " the text"));
  note_left_out(file, path.string(), empty);
  return file;
}

bool holds_text_folders(const fs::path& path) {
  return holds_class_folders(path, is_text_name);
}

void refuse_pictures(const fs::path& folder) {
  const auto count = [&](const IsWanted& wanted) {
    return int64_t(files_by_class(folder, wanted).size());
  };
  const int64_t texts = count(is_text_name),
                pictures = count([](const fs::path&path) {
                  const std::string ending = small_ending(path);
                  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
                });
  require(pictures <= texts, ErrorKind::BadData, folder.string(), ": holds ",
          format_count(pictures), pictures == 1 ? " picture and " : " pictures and ",
          format_count(texts), texts == 1 ? " text" : " texts",
          "; pictures are classified by: fovea train images ", folder.string());
}

FileRows<LabelledText> read_text_folders(const fs::path& folder, int64_t max_bytes,
                                         const RowSink<LabelledText>& sink) {
  FileRows<LabelledText> result{sink};
  ContentHash hash;
  int64_t latin1 = 0, empty = 0, unlabelled = 0;
  for (const ClassFile& file : files_by_class(folder, is_text_name)) {
    if (file.label == kUnlabelled) {
      ++unlabelled;
      continue;
    }
    FileBytes bytes = read_text(file.path, max_bytes);
    hash.add(concat(file.label, " ", bytes.hash, "\n"));
    if (bytes.content.starts_with("\xEF\xBB\xBF")) bytes.content.erase(0, 3);
    if (valid_utf8_prefix(bytes.content) < bytes.content.size()) {
      ++latin1;
      bytes.content = latin1_to_utf8(bytes.content);
    }
    empty += trim(bytes.content).empty();
    if (!trim(bytes.content).empty())
      result.add({std::string(trim(bytes.content)), "", file.label});
  }
  result.hash = hash.text();
  const auto note = [&](int64_t count, const char* what) {
    if (count > 0)
      result.notes.push_back(concat(folder.string(), ": ", format_count(count), " files ", what));
  };
  note(latin1, "are not UTF-8 and were read as ISO-8859-1");
  note(empty, "are empty and were left out");
  note(unlabelled, "of the folder 'unsup' have no label and were left out");
  return result;
}

}  // namespace fovea
