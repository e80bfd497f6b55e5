// Tables as JSON: an object a line, or a list of objects. Keys are columns, in the order in which
// they first come; null and a missing key are missing cells.
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/formats/text_encoding.h"

namespace fovea {

namespace {

struct JsonRows {
  std::vector<std::string> names;
  std::unordered_map<std::string, size_t> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as the names known when it was read
  std::vector<int64_t> lines;

  void add(const Json& object, int64_t line, const std::string& place) {
    require(object.is_object(), ErrorKind::BadData, place,
            ": expected a JSON object with the columns as keys");
    std::vector<std::string> cells(names.size());
    for (const auto& [key, value] : object.items()) {
      require(
          !value.is_structured(), ErrorKind::BadData, place, ": '", shorten_bytes(key, 64),
          "' is a list or an object; a cell is a text, a number, true, false or null, and a row "
          "is an object (pandas: to_json(PATH, orient='records', lines=True))");
      const auto [known, fresh] = columns.emplace(key, names.size());
      if (fresh) names.push_back(key), cells.emplace_back();
      require(names.size() <= size_t(CsvOptions{}.max_columns), ErrorKind::BadData, place,
              ": more than ", format_count(CsvOptions{}.max_columns), " different keys");
      cells[known->second] = value.is_string() ? value.get<std::string>()
                             : value.is_null() ? ""
                                               : value.dump();
    }
    rows.push_back(std::move(cells));
    lines.push_back(line);
  }
};

}  // namespace

CsvTable parse_json_table(std::string raw, const std::string& name) {
  CsvTable notes;
  const std::string content = decode_table_text(std::move(raw), name, notes.notes);
  JsonRows found;
  if (trim(content).starts_with('[')) {
    const Json list = parse_json(content, name);
    for (size_t i = 0; i < list.size(); ++i)
      found.add(list[i], int64_t(i) + 1, concat(name, ": row ", i + 1));
  } else {
    std::string_view rest = content;
    for (int64_t line = 1; !rest.empty(); ++line) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view text = trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::string place = concat(name, ":", line);
      require(
          text.empty() || text.back() == '}', ErrorKind::BadData, place,
          ": the line is not a whole JSON object; expected an object on each line, or a list of "
          "objects");
      if (!text.empty()) found.add(parse_json(text, place), line, place);
    }
  }
  require(!found.rows.empty() && !found.names.empty(), ErrorKind::BadData, name,
          ": has no rows; expected a JSON object a line, or a list of objects");
  for (std::vector<std::string>& row : found.rows) row.resize(found.names.size());
  CsvTable table = make_table(name, std::move(found.names), found.rows, std::move(found.lines));
  table.notes = std::move(notes.notes);
  return table;
}

TableFormat json_table_format() {
  return {{".jsonl", ".ndjson", ".json"},
          [](const std::filesystem::path& path) {
            FileBytes bytes = read_bytes(path, CsvOptions{}.max_bytes);
            CsvTable table = parse_json_table(std::move(bytes.content), path.string());
            table.hash = bytes.hash;
            return table;
          },
          /*is_csv=*/false,
          /*has_input_lines=*/true};
}

}  // namespace fovea
