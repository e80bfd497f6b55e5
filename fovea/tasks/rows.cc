#include "fovea/tasks/rows.h"

#include <algorithm>

#include "fovea/data/formats/cells.h"

namespace fovea {

NamedCells cells_of(const Json& object, const WriteNumber& write) {
  NamedCells cells;
  for (const auto& [name, value] : object.items()) {
    require(!value.is_object() && !value.is_array(), ErrorKind::BadData, "input: '", name,
            "' must be a text, a number or null");
    cells[name] = value.is_string()            ? value.get<std::string>()
                  : value.is_null()            ? ""
                  : value.is_number() && write ? write(name, value.dump())
                                               : value.dump();
  }
  return cells;
}

std::string unknown_names_note(const std::string& line, std::span<const std::string> known) {
  if (!is_json_object(line)) return "";
  std::vector<std::string> unknown;
  const Json object = parse_json(line, "input");
  for (const auto& [name, value] : object.items())
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown.push_back(name);
  return unknown.empty() ? ""
                         : concat(quoted_list(unknown),
                                  unknown.size() == 1 ? ": this run does not know it; it is ignored"
                                                      : ": this run does not know them; they are "
                                                        "ignored");
}

void check_slips(const Json& object, const std::vector<std::string>& known) {
  constexpr size_t kShortest = 4;  // of shorter names, others are near by chance
  for (const auto& [name, value] : object.items()) {
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    const std::string meant = name.size() < kShortest ? "" : nearest(name, known);
    require(is_known || meant.empty(), ErrorKind::BadData, "input: '", shorten_bytes(name, 100),
            "' is not known (did you mean '", meant, "'?)");
  }
}

Json row_schema(std::span<const SchemaColumn> columns) {
  Json properties = Json::object(), names = Json::array();
  for (const SchemaColumn& column : columns) {
    names.push_back(column.name);
    Json& property = properties[column.name];
    const bool is_number = !column.text && column.categories.empty();
    property["type"] = is_number ? "number" : "string";
    if (!is_number && !column.text) property["enum"] = column.categories;
    if (!column.may_be_missing) continue;
    property["type"] = {property["type"], "null"};
    if (property.contains("enum")) property["enum"].push_back(nullptr);
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
