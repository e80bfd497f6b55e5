// A folder whose folders are classes: FOLDER/CLASS/file, or so in folders called train, val and
// test. For pictures and texts that lie in files of their own.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fovea/data/load.h"

namespace fovea {

struct ClassFile {
  std::filesystem::path path;
  std::string label;  // the class's folder
};

/// Whether a file of this name is one of those that count.
using IsWanted = std::function<bool(const std::filesystem::path&)>;

/// The files of all classes, by name, those in deeper folders too; without what is hidden.
std::vector<ClassFile> files_by_class(const std::filesystem::path& folder, const IsWanted& wanted);

/// Whether the path is a folder of classes, or one of splits that are.
bool holds_class_folders(const std::filesystem::path& path, const IsWanted& wanted);

/// The folders called after splits; where there is none, the folder itself as training, or as test
/// where it is taken whole. BadData for two of one split. For Reader::find.
SplitFiles find_class_folders(const std::filesystem::path& folder, bool whole);

}  // namespace fovea
