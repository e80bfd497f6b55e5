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

Json row_schema(std::span<const std::string> columns) {
  Json properties = Json::object();
  for (const std::string& column : columns)
    properties[column] = {{"type", {"number", "string", "null"}}};
  return {{"type", "object"}, {"properties", properties}, {"required", columns}};
}

}  // namespace fovea
