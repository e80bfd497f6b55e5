#include "fovea/data/formats/csv.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/formats/text_encoding.h"

namespace fovea {

namespace {

const char* name_of_delimiter(char delimiter) {
  switch (delimiter) {
    case ',':
      return "comma";
    case ';':
      return "semicolon";
    case '\t':
      return "tab";
    default:
      return "delimiter";
  }
}

/// Walks over a text record by record. Cells are unquoted in place: what is written never overtakes
/// what is read.
class CsvParser {
 public:
  CsvParser(std::string text, std::string path, char delimiter, bool quotes)
      : text_(std::move(text)), path_(std::move(path)), delimiter_(delimiter), quotes_(quotes) {}

  /// Reads the next record, skipping empty lines. False at the end. Refuses more than `limit`
  /// cells.
  bool next(int64_t limit) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_.compare(at_, 2, "\r\n") == 0)) {
      at_ += text_[at_] == '\r' ? 2 : 1;
      ++line_;
    }
    if (at_ >= text_.size()) return false;
    record_line_ = line_;
    for (count_ = 0;;) {
      if (++count_ > limit) [[unlikely]]
        fail(ErrorKind::BadData, place(line_), ": more than ", format_count(limit),
             " columns; is this a table with one row per line?");
      if (quotes_ && at_ < text_.size() && text_[at_] == '"') {
        quoted_cell();
      } else {
        plain_cell();
      }
      ends_.push_back(out_);
      if (at_ >= text_.size()) return true;
      if (text_[at_++] == '\n') return ++line_, true;
    }
  }

  int64_t count() const { return count_; }              // cells of the last record
  int64_t record_line() const { return record_line_; }  // where the last record begins
  bool at_end() const { return at_ >= text_.size(); }
  std::vector<size_t>& ends() { return ends_; }
  std::string_view cell(size_t index) const {
    return {text_.data() + ends_[index], ends_[index + 1] - ends_[index]};
  }
  std::string place(int64_t line) const {
    return path_.empty() ? "input row" : concat(path_, ":", line);
  }

  /// Of a record with more than `columns` cells those at its end that are empty.
  void drop_empty_cells(int64_t columns) {
    while (count_ > columns && ends_[ends_.size() - 2] == ends_.back()) {
      ends_.pop_back();
      --count_;
    }
  }

  /// The arena; the parser is spent.
  std::string take_text() {
    text_.resize(out_);
    text_.shrink_to_fit();
    return std::move(text_);
  }

 private:
  void keep(size_t begin, size_t end) {
    std::memmove(text_.data() + out_, text_.data() + begin, end - begin);
    out_ += end - begin;
  }

  bool at_line_end() const { return at_ >= text_.size() || text_[at_] == '\n'; }

  void plain_cell() {
    const size_t begin = at_;
    const char* text = text_.data();
    const size_t size = text_.size();
    size_t at = at_;
    while (at < size && text[at] != delimiter_ && text[at] != '\n') ++at;
    at_ = at;
    const bool carriage_return = at_line_end() && at > begin && text[at - 1] == '\r';
    keep(begin, carriage_return ? at - 1 : at);
  }

  void quoted_cell() {
    const int64_t begin_line = line_;
    ++at_;
    for (;;) {
      const size_t quote = text_.find('"', at_);
      if (quote == std::string::npos) [[unlikely]]
        fail(ErrorKind::BadData, place(begin_line),
             ": a quote that begins on this line is never closed");
      line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                          text_.begin() + static_cast<std::ptrdiff_t>(quote), '\n');
      const bool doubled = quote + 1 < text_.size() && text_[quote + 1] == '"';
      keep(at_, doubled ? quote + 1 : quote);
      at_ = quote + (doubled ? 2 : 1);
      if (!doubled) break;
    }
    if (at_ < text_.size() && text_[at_] == '\r' &&
        (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'))
      ++at_;
    if (!at_line_end() && text_[at_] != delimiter_) [[unlikely]]
      fail(ErrorKind::BadData, place(line_),
           ": text after a closing quote; a quote inside a quoted cell is written twice (\"\")");
  }

  std::string text_, path_;
  char delimiter_;
  bool quotes_;
  size_t at_ = 0, out_ = 0;
  int64_t line_ = 1, record_line_ = 1, count_ = 0;
  std::vector<size_t> ends_{0};
};

/// The most frequent of comma, semicolon, tab and bar outside quotes on the first line.
char detect_delimiter(std::string_view content) {
  content = content.substr(std::min(content.find_first_not_of("\r\n"), content.size()));
  constexpr std::array<char, 4> kCandidates{',', ';', '\t', '|'};
  std::array<int64_t, kCandidates.size()> counts{};
  bool quoted = false;
  for (const char c : content) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n') break;
    for (size_t i = 0; i < kCandidates.size(); ++i) counts[i] += c == kCandidates[i];
  }
  return kCandidates[static_cast<size_t>(std::max_element(counts.begin(), counts.end()) -
                                         counts.begin())];
}

/// What may be wrong with the first line where a column is not found.
std::string header_advice(std::span<const std::string> names) {
  if (names.size() == 1 && names[0].find(' ') != std::string::npos)
    return ". Cells are parted by comma, semicolon, tab or bar, not by blanks";
  if (names.size() > 2 && names[1] == "Unnamed: 1" && names.back().starts_with("Unnamed: "))
    return ". The first line must be the header; remove what stands above it";
  double value = 0;
  const bool numbers = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return parse_number(name, value);
  });
  return numbers ? ". The first line must be a header, the names of the columns; is it missing?"
                 : "";
}

/// Reads the names into `names` and their places into `columns`.
void read_header(CsvParser& parser, int64_t limit, std::vector<std::string>& names,
                 std::unordered_map<std::string, int64_t>& columns) {
  if (!parser.next(limit))
    fail(ErrorKind::BadData, parser.place(1),
         ": the file is empty; a header line with the column names is needed");
  const std::string place = parser.place(parser.record_line());
  for (int64_t column = 0; column < parser.count(); ++column) {
    std::string name(trim(parser.cell(static_cast<size_t>(column))));
    if (name.empty()) name = concat("Unnamed: ", column);  // a saved row index, a column too many
    const auto [known, fresh] = columns.emplace(name, column);
    require(fresh, ErrorKind::BadData, place, ": columns ", known->second + 1, " and ", column + 1,
            " are both called '", name, "'; names must differ", header_advice({&name, 1}));
    names.push_back(name);
  }
}

}  // namespace

char csv_delimiter(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path inner = path.extension() == ".gz" ? path.stem() : path;
  if (inner.extension() == ".tsv" || inner.extension() == ".tab") return '\t';
  return detect_delimiter(content);
}

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  FileBytes bytes = read_bytes(path, options.max_bytes);
  CsvTable table = parse_csv(std::move(bytes.content), path.string(), options);
  table.hash = bytes.hash;
  return table;
}

CsvTable parse_csv(std::string content, const std::string& name, const CsvOptions& options) {
  CsvTable table;
  table.path = name;
  content = decode_table_text(std::move(content), name, table.notes);
  table.delimiter = options.delimiter != 0 ? options.delimiter : csv_delimiter(name, content);
  CsvParser parser(std::move(content), table.path, table.delimiter, options.quotes);
  auto cells = std::make_shared<CsvTable::Cells>();
  read_header(parser, options.max_columns, table.names, cells->columns);
  const size_t header = table.names.size();
  while (parser.next(options.max_columns)) {
    parser.drop_empty_cells(table.columns());
    if (parser.count() != table.columns()) [[unlikely]]
      fail(ErrorKind::BadData, parser.place(parser.record_line()), ": the row has ", parser.count(),
           " cells, the header has ", table.columns(), " (separated by ",
           name_of_delimiter(table.delimiter), "; a cell that contains one must be quoted)",
           table.columns() == 1
               ? concat("; is '", shorten_bytes(table.names[0], 60), "' a remark above the header?")
               : "");
    cells->lines.push_back(parser.record_line());
  }
  std::vector<size_t>& ends = parser.ends();
  // What a spreadsheet leaves behind the last row: cells that are all empty.
  int64_t empty = 0;
  for (; header > 1 && !cells->lines.empty() && ends[ends.size() - 1 - header] == ends.back();
       ++empty) {
    ends.resize(ends.size() - header);
    cells->lines.pop_back();
  }
  if (empty > 0)
    table.notes.push_back(concat(table.path, ": ", format_count(empty),
                                 empty == 1 ? " row at its end is empty and left out"
                                            : " rows at its end are empty and left out"));
  require(!cells->lines.empty(), ErrorKind::BadData, table.path, ": has a header but no rows");
  cells->ends.assign(ends.begin() + static_cast<std::ptrdiff_t>(header), ends.end());
  cells->text = parser.take_text();
  table.order_.resize(cells->lines.size());
  std::iota(table.order_.begin(), table.order_.end(), int64_t{0});
  table.cells_ = std::move(cells);
  return table;
}

CsvTable make_table(const std::string& name, std::vector<std::string> names,
                    const std::vector<std::vector<std::string>>& rows, std::vector<int64_t> lines) {
  CsvTable table;
  table.path = name;
  table.names = std::move(names);
  auto cells = std::make_shared<CsvTable::Cells>();
  for (size_t i = 0; i < table.names.size(); ++i)
    cells->columns.emplace(table.names[i], int64_t(i));
  cells->ends.push_back(0);
  for (const std::vector<std::string>& row : rows)
    for (const std::string& cell : row) {
      cells->text += cell;
      cells->ends.push_back(cells->text.size());
    }
  cells->lines = std::move(lines);
  table.order_.resize(rows.size());
  std::iota(table.order_.begin(), table.order_.end(), int64_t{0});
  table.cells_ = std::move(cells);
  return table;
}

std::string CsvTable::place(int64_t row) const {
  return concat(path, ":", cells_->lines[static_cast<size_t>(order_[static_cast<size_t>(row)])]);
}

int64_t CsvTable::find(const std::string& name) const {
  const auto found = cells_->columns.find(name);
  if (found != cells_->columns.end() && names[size_t(found->second)] == name) return found->second;
  const auto renamed = std::find(names.begin(), names.end(), name);  // input_table.h, match_names()
  return renamed == names.end() ? -1 : renamed - names.begin();
}

int64_t CsvTable::column(const std::string& name) const {
  const int64_t index = find(name);
  if (index >= 0) return index;
  constexpr size_t kShown = 30;
  const std::span<const std::string> shown(names.data(), std::min(names.size(), kShown));
  fail(ErrorKind::NotFound, path, ": there is no column '", name, "'", suggestion(name, names),
       "; the columns are: ", join(shown), names.size() > kShown ? ", …" : "",
       header_advice(names));
}

CsvTable CsvTable::select(std::span<const int64_t> rows) const {
  CsvTable selected = *this;
  selected.order_.clear();
  for (const int64_t row : rows) selected.order_.push_back(order_[static_cast<size_t>(row)]);
  return selected;
}

std::vector<std::string> parse_csv_line(std::string_view line, char delimiter) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.empty()) return {""};
  CsvParser parser(std::string(line), "", delimiter, /*quotes=*/true);
  parser.next(CsvOptions{}.max_columns);
  require(parser.at_end(), ErrorKind::BadData, "input row: holds more than one line");
  std::vector<std::string> cells;
  for (int64_t i = 0; i < parser.count(); ++i)
    cells.emplace_back(parser.cell(static_cast<size_t>(i)));
  return cells;
}

std::string quote_csv_cell(std::string_view cell, char delimiter) {
  const char special[] = {delimiter, '"', '\n', '\r'};
  const bool plain =
      cell.find_first_of(std::string_view(special, sizeof special)) == std::string_view::npos;
  if (plain) return std::string(cell);
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

TableFormat csv_format() {
  return {{".csv", ".tsv", ".tab"},
          [](const std::filesystem::path& path) { return read_csv(path); }};
}

}  // namespace fovea
