#include "fovea/data/load.h"

#include <algorithm>

namespace fovea {

namespace fs = std::filesystem;

SplitFiles find_split_files(const fs::path& folder, const std::vector<std::string>& endings) {
  std::vector<fs::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  SplitFiles files;
  for (const fs::path& path : paths) {
    const fs::path plain = path.extension() == ".gz" ? path.stem() : path.filename();
    const int part = split_named(plain.stem().string());
    const bool known =
        std::find(endings.begin(), endings.end(), plain.extension().string()) != endings.end();
    if (part < 0 || !known) continue;
    std::optional<fs::path>& file = files[size_t(part)];
    require(!file, ErrorKind::BadData, folder.string(), ": holds both ",
            file ? file->filename().string() : "", " and ", path.filename().string(),
            "; remove one");
    file = path;
  }
  return files;
}

std::optional<fs::path> find_single_file(const fs::path& folder, const std::string& name,
                                         const std::vector<std::string>& endings) {
  for (const auto& part : find_split_files(folder, endings))
    if (part) return {};
  std::optional<fs::path> found;
  for (const std::string& ending : endings)
    for (const char* packed : {"", ".gz"}) {
      const fs::path path = folder / (name + ending + packed);
      if (!fs::exists(path)) continue;
      require(!found, ErrorKind::BadData, folder.string(), ": holds both ",
              found ? found->filename().string() : "", " and ", path.filename().string(),
              "; remove one");
      found = path;
    }
  return found;
}

}  // namespace fovea
