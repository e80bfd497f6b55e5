#include "fovea/base/module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "fovea/base/text.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// Where this code lies: in a library, in the program, which need not be the same.
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& file) {
    if (file.has_parent_path() &&
        std::find(folders.begin(), folders.end(), file.parent_path()) == folders.end())
      folders.push_back(file.parent_path());
  };
  std::error_code error;
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(&open_module), &found) != 0 && found.dli_fname != nullptr) {
    const fs::path file(found.dli_fname);  // of a program as it was called: perhaps a name alone
    if (file.has_parent_path()) add(fs::canonical(file, error));
  }
  add(fs::read_symlink("/proc/self/exe", error));
  return folders;
}

/// Paths for dlopen(), in the order in which they are tried.
std::vector<std::string> candidates(const std::string& places) {
  std::vector<std::string> paths;
  const std::vector<std::string> given = split(places, ':');
  const char* named = std::getenv("FOVEA_MODULES");
  if (named != nullptr && *named != '\0' && !given.empty())
    paths.push_back((fs::path(named) / fs::path(given[0]).filename()).string());
  for (const std::string& place : given) {
    const fs::path path(place);
    if (path.is_absolute() || !path.has_parent_path())
      paths.push_back(place);  // without a slash: where the system looks
    else
      for (const fs::path& folder : own_folders())
        paths.push_back((folder / path).lexically_normal().string());
  }
  return paths;
}

}  // namespace

OpenedModule open_module(const std::string& places, const char* name) {
  OpenedModule result;
  for (const std::string& place : candidates(places)) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void* function = library == nullptr ? nullptr : dlsym(library, name);
    if (function != nullptr) return {function, ""};
    result.reasons += concat("; ", dlerror());
  }
  return result;
}

}  // namespace fovea
