#include "fovea/data/text_parts.h"

#include <algorithm>

namespace fovea {

PartFiles find_part_files(const std::filesystem::path& folder,
                          const std::vector<std::string>& endings) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  PartFiles files;
  for (const std::filesystem::path& path : paths) {
    const std::filesystem::path plain = path.extension() == ".gz" ? path.stem() : path.filename();
    const int part = part_of(plain.stem().string());
    const bool known =
        std::find(endings.begin(), endings.end(), plain.extension().string()) != endings.end();
    if (part < 0 || !known) continue;
    std::optional<std::filesystem::path>& file = files[size_t(part)];
    require(!file, ErrorKind::BadData, folder.string(), ": holds both ",
            file ? file->filename().string() : "", " and ", path.filename().string(),
            "; remove one");
    file = path;
  }
  return files;
}

}  // namespace fovea
