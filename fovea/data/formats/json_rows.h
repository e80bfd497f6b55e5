// Rows as JSON objects: one a line (.jsonl, .ndjson), or in a .json file one a line, a list of
// them, or a list under "data" or "rows".
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "fovea/base/json.h"
#include "fovea/data/formats/named_cells.h"

namespace fovea {

/// Whether a file of this name, without .gz, holds JSON.
bool is_json_name(const std::filesystem::path& path);

template <class Object>
std::vector<std::string> keys_of(const Object& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

/// The member of that name, as find_name() has it; end() where there is none.
template <class Object>
auto find_key(const Object& object, const std::string& name) {
  const auto exact = object.find(name);
  if (exact != object.end()) return exact;
  const std::vector<std::string> keys = keys_of(object);
  const int64_t place = find_name(keys, name);
  return place < 0 ? object.end() : object.find(keys[size_t(place)]);
}

/// take(row, place) for each object; `example` is one as it should be. Returns the file's hash.
/// BadData with path:line, or path: row N of a list.
std::string for_each_json_row(
    const std::filesystem::path& path, int64_t max_bytes, const char* example,
    const std::function<void(const SortedJson&, const std::string&)>& take);

}  // namespace fovea
