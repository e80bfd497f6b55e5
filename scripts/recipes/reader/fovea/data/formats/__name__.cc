// Tables whose cells stand between blanks, with a header line: files that end in .__name__.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/formats/text_encoding.h"

namespace fovea {

/// Column names say which cells are meant, so each must be another one; a file with more of them
/// than a table can have is transposed, or no table.
static void check___name___header(const std::vector<std::string>& names, const std::string& place) {
  require(names.size() <= size_t(CsvOptions{}.max_columns), ErrorKind::BadData, place, ": found ",
          format_count(int64_t(names.size())), " columns; expected at most ",
          format_count(CsvOptions{}.max_columns));
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  const auto twin = std::ranges::adjacent_find(sorted);
  require(twin == sorted.end(), ErrorKind::BadData, place, ": two columns are called '",
          twin == sorted.end() ? "" : shorten_bytes(*twin, 64), "'");
}

static CsvTable read___name__(const std::filesystem::path& path) {
  FileBytes bytes = read_bytes(path, CsvOptions{}.max_bytes);
  std::vector<std::string> names, notes;
  std::vector<std::vector<std::string>> rows;
  std::vector<int64_t> lines;  // of each row, for errors
  const std::string content = decode_table_text(std::move(bytes.content), path.string(), notes);
  std::string_view rest = content;
  for (int64_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::vector<std::string> cells;
    for (const std::string& cell : split(std::string(trim(rest.substr(0, end))), ' '))
      if (!cell.empty()) cells.push_back(cell);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (cells.empty()) continue;
    if (names.empty()) {
      names = std::move(cells);
      check___name___header(names, concat(path.string(), ":", line));
      continue;
    }
    require(cells.size() == names.size(), ErrorKind::BadData, path.string(), ":", line,
            ": the row has ", cells.size(), " cells, the header has ", names.size());
    rows.push_back(std::move(cells));
    lines.push_back(line);
  }
  require(!rows.empty(), ErrorKind::BadData, path.string(), ": has no rows");
  CsvTable table = make_table(path.string(), std::move(names), rows, std::move(lines));
  table.notes = std::move(notes);
  table.hash = bytes.hash;
  return table;
}

/// Behind the reader may stand what is so of the format: .is_csv, .has_input_lines (table.h).
TableFormat __name___format() {
  return {{".__name__"}, read___name__};
}

}  // namespace fovea
