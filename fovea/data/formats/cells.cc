#include "fovea/data/formats/cells.h"

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "fovea/base/error.h"

namespace fovea {

std::string_view trim_cell(std::string_view cell) {
  const auto dark = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  return cell.empty() || (dark(cell.front()) && dark(cell.back())) ? cell : trim(cell);
}

bool is_missing(std::string_view trimmed) {
  switch (trimmed.size()) {
    case 0:
      return true;
    case 1:
      return trimmed == "?";
    case 2:
      return trimmed == "NA";
    case 3:
      return trimmed == "N/A" || trimmed == "NaN" || trimmed == "nan";
    case 4:
      return trimmed == "null" || trimmed == "NULL" || trimmed == "None";
    default:
      return false;
  }
}

bool parse_cell(std::string_view trimmed, double& value) {
  const char* begin = trimmed.data();
  const char* end = begin + trimmed.size();
  if (trimmed.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end && begin != end && std::abs(value) <= FLT_MAX;
}

void sort_naturally(std::vector<std::string>& texts) {
  const auto number = [](const std::string& text) {
    double value = 0;
    return parse_cell(text, value) ? value : NAN;
  };
  const bool numeric = std::none_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return std::isnan(number(text));
  });
  std::sort(texts.begin(), texts.end(), [&](const std::string& a, const std::string& b) {
    if (!numeric) return a < b;
    const double left = number(a), right = number(b);
    return left != right ? left < right : a < b;
  });
}

std::string choose_target(const CsvTable& table, const std::string& name) {
  if (!name.empty()) return table.names[static_cast<size_t>(table.column(name))];
  for (const char* usual : {"target", "label", "class", "y"})
    if (table.find(usual) >= 0) return usual;
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

std::string quoted_list(std::span<const std::string> names, size_t shown) {
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i)
    list += concat(i > 0 ? ", '" : "'", names[i], "'");
  if (names.size() > shown) list += concat(" and ", names.size() - shown, " more");
  return list.empty() ? "none" : list;
}

}  // namespace fovea
