#include "fovea/data/formats/json_rows.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/text_lines.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

/// Whether the first line that is not blank is an object of its own.
bool begins_with_row(std::string_view text) {
  text = trim(text);
  const std::string_view line = trim(text.substr(0, text.find('\n')));
  return line.starts_with('{') && SortedJson::accept(line);
}

/// The list itself, or the one under "data" or "rows".
const SortedJson& list_in(const SortedJson& root, const std::string& where, const char* example) {
  if (root.is_array()) return root;
  if (root.is_object())
    for (const char* key : {"data", "rows"})
      if (const auto found = root.find(key); found != root.end() && found->is_array())
        return *found;
  fail(ErrorKind::BadData, where, ": holds ", root.type_name(),
       "; expected a list of objects or one object a line, as in ", example,
       " (of pandas: to_json(FILE, orient='records', lines=True))");
}

}  // namespace

bool is_json_name(const fs::path& path) {
  const std::string ending = plain_ending(path);
  return ending == ".jsonl" || ending == ".ndjson" || ending == ".json";
}

std::string for_each_json_row(
    const fs::path& path, int64_t max_bytes, const char* example,
    const std::function<void(const SortedJson&, const std::string&)>& take) {
  if (plain_ending(path) == ".json") {
    FileBytes bytes = read_text(path, max_bytes);
    if (bytes.content.starts_with("\xEF\xBB\xBF")) bytes.content.erase(0, 3);
    const std::string where = path.string();
    require(!trim(bytes.content).empty(), ErrorKind::BadData, where, ": is empty");
    if (!begins_with_row(bytes.content)) {
      const SortedJson root = parse_sorted_json(bytes.content, where);
      int64_t number = 0;
      for (const SortedJson& row : list_in(root, where, example)) {
        const std::string place = concat(where, ": row ", ++number);
        require(row.is_object(), ErrorKind::BadData, place, ": found ", row.type_name(),
                "; expected an object, as in ", example);
        take(row, place);
      }
      return bytes.hash;
    }
  }
  TextLines lines(path, max_bytes);
  for (std::string_view line; lines.next(line);)
    if (!trim(line).empty()) take(parse_json_row(line, lines.place(), example), lines.place());
  return lines.hash();
}

}  // namespace fovea
