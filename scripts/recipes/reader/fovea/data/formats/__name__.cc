// Tables whose cells stand between blanks, with a header line: files that end in .__name__.
#include "fovea/base/text.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/table.h"

namespace fovea {

static CsvTable read___name__(const std::filesystem::path& path) {
  constexpr int64_t kMostBytes = int64_t{4} << 30;
  const FileBytes bytes = read_bytes(path, kMostBytes);
  std::string tabs;
  for (const std::string& line : split(bytes.content, '\n')) {
    std::vector<std::string> cells;
    for (std::string& cell : split(line, ' '))
      if (!cell.empty()) cells.push_back(std::move(cell));
    if (!cells.empty()) tabs += join(cells, "\t") + "\n";
  }
  CsvTable table = parse_csv(std::move(tabs), path.string(), {.delimiter = '\t', .quotes = false});
  table.hash = bytes.hash;
  return table;
}

TableFormat __name___format() {
  return {{".__name__"}, read___name__};
}

}  // namespace fovea
