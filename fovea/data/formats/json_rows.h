// Rows as JSON objects: one a line (.jsonl, .ndjson), or in a .json file one a line, a list of
// them, or a list under "data" or "rows".
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "fovea/base/json.h"

namespace fovea {

/// Whether a file of this name, without .gz, holds JSON.
bool is_json_name(const std::filesystem::path& path);

/// take(row, place) for each object; `example` is one as it should be. Returns the file's hash.
/// BadData with path:line, or path: row N of a list.
std::string for_each_json_row(
    const std::filesystem::path& path, int64_t max_bytes, const char* example,
    const std::function<void(const SortedJson&, const std::string&)>& take);

}  // namespace fovea
