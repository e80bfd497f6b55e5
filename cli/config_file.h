// The file of --config: JSON as people write it, with comments and with commas behind the last
// item.
#pragma once

#include <filesystem>

#include "fovea/base/json.h"

namespace fovea::cli {

/// BadData with path:line; YAML, TOML and what else is no JSON is answered with what to do.
Json read_config_file(const std::filesystem::path& path);

}  // namespace fovea::cli
