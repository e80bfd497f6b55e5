#include "fovea/data/formats/table.h"

#include <algorithm>

#include "fovea/base/names.h"

namespace fovea {

// The table: one row for each NAME_format().
#define FOVEA_TABLE_FORMATS(row) row(csv) row(json_table)

#define FOVEA_DECLARE(name) TableFormat name##_format();
FOVEA_TABLE_FORMATS(FOVEA_DECLARE)
#undef FOVEA_DECLARE

static const std::vector<TableFormat>& formats() {
#define FOVEA_ROW(name) name##_format(),
  static const std::vector<TableFormat> table = {FOVEA_TABLE_FORMATS(FOVEA_ROW)};
#undef FOVEA_ROW
  return table;
}

std::vector<std::string> table_endings() {
  std::vector<std::string> endings;
  for (const TableFormat& format : formats())
    endings.insert(endings.end(), format.endings.begin(), format.endings.end());
  return endings;
}

/// Of a file of that name; CSV where the ending is unknown.
static TableFormat format_of(const std::filesystem::path& path) {
  const std::string ending = plain_ending(path);
  for (const TableFormat& format : formats())
    if (std::ranges::count(format.endings, ending) > 0) return format;
  return csv_format();
}

CsvTable read_table(const std::filesystem::path& path) {
  return format_of(path).read(path);
}

bool is_csv_name(const std::filesystem::path& path) {
  return format_of(path).is_csv;
}

bool is_whole_table_name(const std::filesystem::path& path) {
  return !format_of(path).has_input_lines;
}

}  // namespace fovea
