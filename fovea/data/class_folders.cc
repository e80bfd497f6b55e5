#include "fovea/data/class_folders.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 16;  // folders in folders

/// What lies in the folder, by name, without what is hidden.
std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder))
    if (!entry.path().filename().string().starts_with(".")) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

void add_files(const fs::path& folder, const std::string& label, const IsWanted& wanted, int depth,
               std::vector<ClassFile>& files) {
  for (const fs::path& path : sorted_entries(folder)) {
    if (fs::is_directory(path) && depth < kDeepest)
      add_files(path, label, wanted, depth + 1, files);
    else if (fs::is_regular_file(path) && wanted(path))
      files.push_back({path, label});
  }
}

/// The folders called train, val and test.
SplitFiles split_folders(const fs::path& folder) {
  SplitFiles found;
  for (const fs::path& path : sorted_entries(folder)) {
    const int split = fs::is_directory(path) ? split_named(path.filename().string()) : -1;
    if (split < 0) continue;
    std::optional<fs::path>& place = found[size_t(split)];
    require(!place, ErrorKind::BadData, folder.string(), ": holds both ",
            place ? place->filename().string() : "", " and ", path.filename().string(),
            "; remove one");
    place = path;
  }
  return found;
}

bool names_any_split(const SplitFiles& folders) {
  return std::any_of(folders.begin(), folders.end(), [](const auto& path) { return path; });
}

}  // namespace

std::vector<ClassFile> files_by_class(const fs::path& folder, const IsWanted& wanted) {
  std::vector<ClassFile> files;
  for (const fs::path& label : sorted_entries(folder))
    if (fs::is_directory(label)) add_files(label, label.filename().string(), wanted, 1, files);
  return files;
}

bool holds_class_folders(const fs::path& path, const IsWanted& wanted) {
  if (!fs::is_directory(path)) return false;
  const SplitFiles folders = split_folders(path);
  if (!names_any_split(folders)) return !files_by_class(path, wanted).empty();
  return std::any_of(folders.begin(), folders.end(), [&](const auto& folder) {
    return folder && !files_by_class(*folder, wanted).empty();
  });
}

SplitFiles find_class_folders(const fs::path& folder, bool whole) {
  SplitFiles folders = split_folders(folder);
  if (!names_any_split(folders)) folders[whole ? kTest : kTrain] = folder;
  return folders;
}

}  // namespace fovea
