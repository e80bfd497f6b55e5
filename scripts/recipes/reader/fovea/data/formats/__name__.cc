// Tables whose cells stand between blanks, with a header line: files that end in .__name__.
#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/formats/text_encoding.h"

namespace fovea {

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

TableFormat __name___format() {
  return {{".__name__"}, read___name__};
}

}  // namespace fovea
