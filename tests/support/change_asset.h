// An asset of a run written anew, with null for its hash: as somebody does who means it.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/json.h"

namespace fovea::testing {

inline void change_asset(const std::filesystem::path& run, const std::string& name,
                         const Json& value) {
  write_json_file(run / "assets" / name, value);
  Json manifest = read_json_file(run / "manifest.json");
  manifest["files"]["assets/" + name] = nullptr;
  write_json_file(run / "manifest.json", manifest);
}

}  // namespace fovea::testing
