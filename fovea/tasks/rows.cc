#include "fovea/tasks/rows.h"

#include <algorithm>

namespace fovea {

NamedCells cells_of(const Json& object) {
  NamedCells cells;
  for (const auto& [name, value] : object.items()) {
    require(!value.is_object() && !value.is_array(), ErrorKind::BadData, "input: '", name,
            "' must be a text, a number or null");
    cells[name] = value.is_string() ? value.get<std::string>()
                  : value.is_null() ? ""
                                    : value.dump();
  }
  return cells;
}

char delimiter_of(const std::string& line) {
  if (line.find('\t') != std::string::npos) return '\t';
  return line.find(',') == std::string::npos && line.find(';') != std::string::npos ? ';' : ',';
}

bool names_columns(const std::string& line, std::span<const std::string> file_columns,
                   std::span<const std::string> inputs) {
  if (line.empty() || line.front() == '{' || valid_utf8_prefix(line) != line.size()) return false;
  const auto known = [&](const std::string& cell) {
    const std::string name(trim(cell));
    return std::find(file_columns.begin(), file_columns.end(), name) != file_columns.end() ||
           std::find(inputs.begin(), inputs.end(), name) != inputs.end();
  };
  const auto cells = parse_csv_line(line, delimiter_of(line));
  return std::all_of(cells.begin(), cells.end(), known);
}

Json row_schema(std::span<const RowColumn> columns) {
  Json properties = Json::object(), names = Json::array();
  for (const RowColumn& column : columns) {
    names.push_back(column.name);
    if (column.categories.empty())
      properties[column.name] = {{"type", "number"}};
    else
      properties[column.name] = {{"type", "string"}, {"enum", column.categories}};
  }
  return {{"type", "object"}, {"properties", properties}, {"required", names}};
}

double rounded(double value) {
  double shorter = value;
  parse_number(format_number(value, 4), shorter);
  return shorter;
}

Json row_object(std::span<const std::string> columns, std::span<const std::string> cells) {
  Json row = Json::object();
  for (size_t i = 0; i < columns.size(); ++i) {
    double number = 0;
    if (cells[i].empty())
      row[columns[i]] = nullptr;
    else if (parse_cell(cells[i], number))
      row[columns[i]] = number;
    else
      row[columns[i]] = cells[i];
  }
  return row;
}

}  // namespace fovea
