#include "fovea/data/formats/csv.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/formats/text_encoding.h"
#include "fovea/data/formats/unnamed_column.h"

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
    return ". Cells are separated by comma, semicolon, tab or bar, not by blanks";
  if (names.size() > 2 && names[1] == "Unnamed: 1" && names.back().starts_with("Unnamed: "))
    return ". The first line must be the header; remove what stands above it";
  double value = 0;
  const bool numbers = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return parse_number(name, value);
  });
  return numbers ? ". The first line must be a header, the names of the columns; is it missing?"
                 : "";
}

}  // namespace

/// Walks over a text, of which more may follow, record by record.
class CsvStream::Parser {
 public:
  Parser(std::string path, bool quotes) : path_(std::move(path)), quotes_(quotes) {}

  enum Found {
    kRecord,
    kEnd,
    kCut
  };  // kCut: what there is of the text ends before the record does

  void set_delimiter(char delimiter) { delimiter_ = delimiter; }
  /// Where more text belongs. What is behind us is gone.
  std::string& text() {
    text_.erase(0, at_);
    at_ = 0;
    return text_;
  }

  /// Reads the next record, skipping empty lines. `last`: nothing follows the text. Refuses more
  /// than `limit` cells.
  Found next(int64_t limit, bool last) {
    skip_empty_lines(last);
    if (at_ >= text_.size()) return last ? kEnd : kCut;
    const size_t begin = at_;
    record_line_ = line_;
    cells_.clear();
    ends_.assign(1, 0);
    for (;;) {
      if (count() == limit) [[unlikely]]
        fail(ErrorKind::BadData, place(line_), ": more than ", format_count(limit),
             " columns; is this a table with one row per line?");
      const bool quoted = quotes_ && at_ < text_.size() && text_[at_] == '"';
      if (!(quoted ? quoted_cell(last) : plain_cell(last))) {
        at_ = begin;
        line_ = record_line_;
        return kCut;
      }
      ends_.push_back(cells_.size());
      if (at_ >= text_.size()) return kRecord;
      if (text_[at_++] == '\n') return ++line_, kRecord;
    }
  }

  int64_t count() const { return int64_t(ends_.size()) - 1; }  // cells of the last record
  int64_t record_line() const { return record_line_; }         // where it begins
  bool is_empty() const { return cells_.empty(); }             // all its cells are
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view cell(size_t index) const {
    return std::string_view(cells_).substr(ends_[index], ends_[index + 1] - ends_[index]);
  }
  std::string place(int64_t line) const {
    return path_.empty() ? "input row" : concat(path_, ":", line);
  }

  /// Of a record with more than `columns` cells those at its end that are empty.
  void drop_empty_cells(int64_t columns) {
    while (count() > columns && ends_[ends_.size() - 2] == ends_.back()) ends_.pop_back();
  }

 private:
  void skip_empty_lines(bool last) {
    for (; at_ < text_.size(); ++line_) {
      const bool carriage_return =
          text_[at_] == '\r' && (at_ + 1 < text_.size() ? text_[at_ + 1] == '\n' : !last);
      if (text_[at_] != '\n' && !carriage_return) return;
      if (carriage_return && at_ + 1 == text_.size()) return;  // a line feed may follow
      at_ += carriage_return ? 2 : 1;
    }
  }

  bool at_line_end() const { return at_ >= text_.size() || text_[at_] == '\n'; }

  // False where the text ends before it is clear where the cell does.
  bool plain_cell(bool last) {
    const size_t begin = at_;
    const char* text = text_.data();
    const size_t size = text_.size();
    size_t at = at_;
    while (at < size && text[at] != delimiter_ && text[at] != '\n') ++at;
    at_ = at;
    if (at == size && !last) return false;
    const bool carriage_return = at_line_end() && at > begin && text[at - 1] == '\r';
    cells_.append(text + begin, (carriage_return ? at - 1 : at) - begin);
    return true;
  }

  bool quoted_cell(bool last) {
    const int64_t begin_line = line_;
    ++at_;
    for (;;) {
      const size_t quote = text_.find('"', at_);
      if (quote == std::string::npos) {
        if (!last) return false;
        fail(ErrorKind::BadData, place(begin_line),
             ": a quote that begins on this line is never closed");
      }
      if (quote + 1 == text_.size() && !last) return false;
      line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                          text_.begin() + static_cast<std::ptrdiff_t>(quote), '\n');
      const bool doubled = quote + 1 < text_.size() && text_[quote + 1] == '"';
      cells_.append(text_, at_, (doubled ? quote + 1 : quote) - at_);
      at_ = quote + (doubled ? 2 : 1);
      if (!doubled) break;
    }
    if (at_ < text_.size() && text_[at_] == '\r') {
      if (at_ + 1 == text_.size() && !last) return false;
      if (at_ + 1 == text_.size() || text_[at_ + 1] == '\n') ++at_;
    }
    if (!at_line_end() && text_[at_] != delimiter_) [[unlikely]]
      fail(ErrorKind::BadData, place(line_),
           ": text after a closing quote; a quote inside a quoted cell is written twice (\"\")");
    return true;
  }

  std::string text_, path_;
  bool quotes_;
  char delimiter_ = ',';
  size_t at_ = 0;
  int64_t line_ = 1, record_line_ = 1;
  std::string cells_;  // of the last record, unquoted
  std::vector<size_t> ends_{0};
};

char csv_delimiter(const std::filesystem::path& path, std::string_view content) {
  if (const std::string ending = plain_ending(path); ending == ".tsv" || ending == ".tab")
    return '\t';
  return detect_delimiter(content);
}

CsvStream::CsvStream(const std::filesystem::path& path, const CsvOptions& options)
    : options_(options),
      bytes_(std::make_unique<ByteStream>(path, options.max_bytes, /*text=*/true)),
      parser_(std::make_unique<Parser>(path.string(), options.quotes)) {
  read_header(path.string());
}

CsvStream::CsvStream(std::string content, const std::string& name, const CsvOptions& options)
    : options_(options), parser_(std::make_unique<Parser>(name, options.quotes)) {
  parser_->text() = decode_table_text(std::move(content), name, head_.notes);
  ended_ = true;
  read_header(name);
}

CsvStream::~CsvStream() = default;

void CsvStream::fill() {
  std::string piece;
  ended_ = !bytes_->next(piece);
  decoder_->add(piece, ended_, parser_->text());
}

void CsvStream::read_header(const std::string& name) {
  head_.path = name;
  decoder_ = std::make_unique<TableDecoder>(name, head_.notes);
  while (!ended_ && parser_->text().find('\n') == std::string::npos) fill();
  head_.delimiter =
      options_.delimiter != 0 ? options_.delimiter : csv_delimiter(name, parser_->text());
  parser_->set_delimiter(head_.delimiter);
  if (!next_record())
    fail(ErrorKind::BadData, parser_->place(1),
         ": the file is empty; a header line with the column names is needed");
  const std::string place = parser_->place(parser_->record_line());
  auto cells = std::make_shared<CsvTable::Cells>();
  for (int64_t column = 0; column < parser_->count(); ++column) {
    std::string cell(trim(parser_->cell(static_cast<size_t>(column))));
    if (cell.empty()) cell = unnamed_column(column);
    const auto [known, fresh] = cells->columns.emplace(cell, column);
    require(fresh, ErrorKind::BadData, place, ": columns ", known->second + 1, " and ", column + 1,
            " are both called '", cell, "'; names must differ", header_advice({&cell, 1}));
    head_.names.push_back(cell);
  }
  columns_ = int64_t(head_.names.size());
  head_.cells_ = std::move(cells);
}

bool CsvStream::next_record() {
  for (;;) {
    const Parser::Found found = parser_->next(options_.max_columns, ended_);
    if (found == Parser::kEnd) return false;
    if (found == Parser::kRecord) return true;
    fill();
  }
}

void CsvStream::keep_columns(std::vector<int64_t> columns) {
  auto cells = std::make_shared<CsvTable::Cells>();
  std::vector<std::string> names;
  for (const int64_t column : columns) {
    cells->columns.emplace(head_.names[size_t(column)], int64_t(names.size()));
    names.push_back(head_.names[size_t(column)]);
  }
  head_.names = std::move(names);
  head_.cells_ = std::move(cells);
  kept_ = std::move(columns);
}

void CsvStream::finish() {
  if (!std::exchange(finished_, true)) {
    if (bytes_) head_.hash = bytes_->hash();
    // What a spreadsheet leaves behind the last row: cells that are all empty.
    if (const size_t empty = empty_lines_.size(); empty > 0)
      head_.notes.push_back(concat(head_.path, ": ", format_count(int64_t(empty)),
                                   empty == 1 ? " row at its end is empty and left out"
                                              : " rows at its end are empty and left out"));
  }
  require(given_ > 0, ErrorKind::BadData, head_.path, ": has a header but no rows");
}

bool CsvStream::next(CsvTable& table, int64_t most, const std::function<bool(int64_t)>& wanted) {
  auto cells = std::make_shared<CsvTable::Cells>();
  cells->columns = head_.cells_->columns;
  cells->ends.push_back(0);
  const auto add_row = [&](int64_t line, bool empty) {
    if (!wanted || wanted(given_)) {
      for (size_t i = 0; i < head_.names.size(); ++i) {
        if (!empty) cells->text += parser_->cell(kept_.empty() ? i : size_t(kept_[i]));
        cells->ends.push_back(cells->text.size());
      }
      cells->lines.push_back(line);
    }
    ++given_;
  };
  while (int64_t(cells->lines.size()) < most) {
    if (finished_ || !next_record()) {
      finish();
      break;
    }
    parser_->drop_empty_cells(columns_);
    if (parser_->count() != columns_) [[unlikely]]
      fail(ErrorKind::BadData, parser_->place(parser_->record_line()), ": the row has ",
           parser_->count(), " cells, the header has ", columns_, " (separated by ",
           name_of_delimiter(head_.delimiter), "; a cell that contains one must be quoted)",
           columns_ == 1
               ? concat("; is '", shorten_bytes(head_.names[0], 60), "' a remark above the header?")
               : "");
    if (columns_ > 1 && parser_->is_empty()) {
      empty_lines_.push_back(parser_->record_line());
      continue;
    }
    for (const int64_t line : std::exchange(empty_lines_, {})) add_row(line, true);
    add_row(parser_->record_line(), false);
  }
  table = head_;
  table.order_.resize(cells->lines.size());
  std::iota(table.order_.begin(), table.order_.end(), int64_t{0});
  table.cells_ = std::move(cells);
  return table.rows() > 0;
}

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  CsvTable table;
  CsvStream(path, options).next(table, INT64_MAX);
  return table;
}

CsvTable parse_csv(std::string content, const std::string& name, const CsvOptions& options) {
  CsvTable table;
  CsvStream(std::move(content), name, options).next(table, INT64_MAX);
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
  CsvStream::Parser parser("", /*quotes=*/true);
  parser.set_delimiter(delimiter);
  parser.text() = line;
  parser.next(CsvOptions{}.max_columns, /*last=*/true);
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
          [](const std::filesystem::path& path) { return read_csv(path); },
          /*is_csv=*/true,
          /*has_input_lines=*/true};
}

}  // namespace fovea
