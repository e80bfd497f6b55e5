// A run as a training leaves it that was killed.
#pragma once

#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/base/json.h"

namespace fovea::testing {

inline void copy_unfinished(const std::filesystem::path& run, const std::filesystem::path& copy) {
  std::filesystem::copy(run, copy, std::filesystem::copy_options::recursive);
  Json manifest = read_json_file(copy / "manifest.json");
  manifest["training"] = {{"finished", false}};
  write_json_file(copy / "manifest.json", manifest);
}

}  // namespace fovea::testing
