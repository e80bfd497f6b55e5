#include "fovea/data/formats/named_cells.h"

#include <algorithm>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

std::string find_target(const CsvTable& table, const std::string& name) {
  if (!name.empty()) return table.find(name) >= 0 ? name : "";
  for (const char* usual : {"target", "label", "class", "y"})
    if (table.find(usual) >= 0) return usual;
  return "";
}

std::string choose_target(const CsvTable& table, const std::string& name) {
  if (!name.empty()) return table.names[static_cast<size_t>(table.column(name))];
  if (const std::string found = find_target(table, name); !found.empty()) return found;
  fail(ErrorKind::NotFound, table.path,
       ": which column is the target? None is called target, label, class or y; name it ",
       "with --target COLUMN. The columns are: ", quoted_list(table.names, 30));
}

CsvTable rows_with(const CsvTable& table, int64_t column) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < table.rows(); ++row)
    if (!is_missing(trim_cell(table.cell(row, column)))) rows.push_back(row);
  return int64_t(rows.size()) == table.rows() ? table : table.select(rows);
}

NamedCells name_cells(std::span<const std::string> cells, std::span<const std::string> file_columns,
                      std::span<const std::string> inputs, const std::string& target) {
  std::vector<std::string> names(inputs.begin(), inputs.end());
  if (cells.size() != names.size()) {
    names.assign(file_columns.begin(), file_columns.end());
    if (cells.size() + 1 == names.size()) std::erase(names, target);
  }
  require(cells.size() == names.size(), ErrorKind::BadData, "input row: ", cells.size(),
          " cells; expected ", inputs.size(), " (", quoted_list(inputs), ") or the ",
          file_columns.size(), " of the training file, with or without '", target, "'");
  NamedCells row;
  for (size_t i = 0; i < cells.size(); ++i) row[names[i]] = cells[i];
  return row;
}

const std::string& named_cell(const NamedCells& row, const std::string& column) {
  const auto found = row.find(column);
  if (found != row.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, cell] : row) names.push_back(name);
  fail(ErrorKind::BadData, "input row: no column '", column, "'; it has ", quoted_list(names),
       ". Give an empty value where it is missing");
}

void check_names(const NamedCells& row, std::span<const std::string> file_columns) {
  const std::unordered_set<std::string_view> known(file_columns.begin(), file_columns.end());
  for (const auto& [name, cell] : row)
    if (!known.contains(name))
      fail(ErrorKind::BadData, "input row: unknown column '", name, "'",
           suggestion(name, file_columns), "; the training file had ", quoted_list(file_columns));
}

int64_t find_name(std::span<const std::string> names, const std::string& name) {
  if (const auto exact = std::find(names.begin(), names.end(), name); exact != names.end())
    return exact - names.begin();
  const std::string lower = lower_ascii(name);
  const auto is_same = [&](const std::string& other) { return lower_ascii(other) == lower; };
  const auto found = std::find_if(names.begin(), names.end(), is_same);
  return found == names.end() || std::any_of(found + 1, names.end(), is_same)
             ? -1
             : found - names.begin();
}

std::string quoted_list(std::span<const std::string> names, size_t shown) {
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i)
    list += concat(i > 0 ? ", '" : "'", names[i], "'");
  if (names.size() > shown) list += concat(" and ", names.size() - shown, " more");
  return list.empty() ? "none" : list;
}

}  // namespace fovea
