// Tables as text: comma, semicolon or tab separated values with RFC 4180 quoting and a header line.
// docs/formats/csv.md states the rules, the limits and what is refused. Cells stay text here;
// data/tables/encoder.h and data/sequences/encoder.h give them meaning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea {

class ByteStream;
class TableDecoder;

struct CsvOptions {
  char delimiter = 0;  // 0: tab when the name ends in .tsv or .tab, else the most frequent of , ;
                       // tab and | in the header
  bool quotes = true;  // "a ""quoted"" cell"; without, a quote is an ordinary character
  int64_t max_columns = 65536;
  int64_t max_bytes = int64_t{4} << 30;  // unpacked
};

/// The cells of one file in one arena. Copies and selections share it.
class CsvTable {
 public:
  std::string path;
  std::vector<std::string> names;  // from the header, white space at the ends removed; one without
                                   // a name is "Unnamed: 0", as pandas calls it
  std::string hash;                // ContentHash of the file's bytes
  char delimiter = ',';
  std::vector<std::string> notes;  // what reading had to guess, one sentence each

  int64_t rows() const { return static_cast<int64_t>(order_.size()); }
  int64_t columns() const { return static_cast<int64_t>(names.size()); }
  /// Row and column are not checked.
  std::string_view cell(int64_t row, int64_t column) const {
    const size_t at = static_cast<size_t>(order_[static_cast<size_t>(row)] * columns() + column);
    const size_t begin = cells_->ends[at], end = cells_->ends[at + 1];
    return {cells_->text.data() + begin, end - begin};
  }
  /// "train.csv:17", the line on which the row begins.
  std::string place(int64_t row) const;

  /// The column's index, or -1.
  int64_t find(const std::string& name) const;
  /// The column's index. NotFound lists the columns and names the nearest one.
  int64_t column(const std::string& name) const;

  /// The same table with these rows only, in that order.
  CsvTable select(std::span<const int64_t> rows) const;

 private:
  friend class CsvStream;
  friend CsvTable make_table(const std::string&, std::vector<std::string>,
                             const std::vector<std::vector<std::string>>&, std::vector<int64_t>);
  struct Cells {
    std::string text;                                  // all cells one after the other, unquoted
    std::vector<size_t> ends;                          // cell i is text[ends[i], ends[i+1])
    std::vector<int64_t> lines;                        // of each row of the file
    std::unordered_map<std::string, int64_t> columns;  // by name: a wide table is looked up often
  };
  std::shared_ptr<const Cells> cells_;
  std::vector<int64_t> order_;  // row -> row of the file
};

/// The rows of a file of any size, plain or gzip, some at a time. NotFound, Io, or BadData with
/// path:line.
class CsvStream {
 public:
  explicit CsvStream(const std::filesystem::path& path, const CsvOptions& options = {});
  /// Of bytes that were read already: `name` stands for the path, the hash stays empty.
  CsvStream(std::string content, const std::string& name, const CsvOptions& options = {});
  ~CsvStream();

  CsvStream(const CsvStream&) = delete;
  CsvStream& operator=(const CsvStream&) = delete;

  /// Path, names and delimiter, and no rows. Behind the last row it has all notes and the hash.
  const CsvTable& head() const { return head_; }
  /// From now on tables have only these columns.
  void keep_columns(std::vector<int64_t> columns);
  /// The next rows, about `most` of them, of those with wanted(number of the row in the file).
  /// False: there are none.
  bool next(CsvTable& table, int64_t most, const std::function<bool(int64_t)>& wanted = {});

 private:
  friend std::vector<std::string> parse_csv_line(std::string_view line, char delimiter);
  class Parser;
  void read_header(const std::string& name);
  bool next_record();
  void fill();
  void finish();

  CsvOptions options_;
  CsvTable head_;
  std::unique_ptr<ByteStream> bytes_;
  std::unique_ptr<TableDecoder> decoder_;
  std::unique_ptr<Parser> parser_;
  int64_t columns_ = 0;               // of the file
  std::vector<int64_t> kept_;         // columns; empty: all
  std::vector<int64_t> empty_lines_;  // rows that may be the last ones
  int64_t given_ = 0;                 // rows so far
  bool ended_ = false;                // no more bytes
  bool finished_ = false;             // no more rows
};

/// The whole file.
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

CsvTable parse_csv(std::string content, const std::string& name, const CsvOptions& options = {});

/// The table of JSON content: an object a line, or a list of objects.
CsvTable parse_json_table(std::string content, const std::string& name);

/// A table of cells that were read elsewhere: every row has as many as there are names, and begins
/// on its line.
CsvTable make_table(const std::string& name, std::vector<std::string> names,
                    const std::vector<std::vector<std::string>>& rows, std::vector<int64_t> lines);

/// What separates the cells of a file of that name which begins so.
char csv_delimiter(const std::filesystem::path& path, std::string_view content);

/// The cells of one line without its line end, for rows that are typed rather than read from a
/// file.
std::vector<std::string> parse_csv_line(std::string_view line, char delimiter = ',');

/// `cell` as it must be written to be read back: quoted where it holds the delimiter, a quote or a
/// line end.
std::string quote_csv_cell(std::string_view cell, char delimiter = ',');

}  // namespace fovea
