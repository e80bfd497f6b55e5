#include "fovea/data/load.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/names.h"

namespace fovea {

namespace fs = std::filesystem;

SplitFiles find_split_files(const fs::path& folder, const std::vector<std::string>& endings) {
  std::vector<fs::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  SplitFiles files;
  for (const fs::path& path : paths) {
    const fs::path plain = without_gz(path);
    const int split = split_named(plain.stem().string());
    const bool known =
        std::find(endings.begin(), endings.end(), plain.extension().string()) != endings.end();
    if (split < 0 || !known) continue;
    std::optional<fs::path>& file = files[size_t(split)];
    require(!file, ErrorKind::BadData, folder.string(), ": holds both ",
            file ? file->filename().string() : "", " and ", path.filename().string(),
            "; remove one");
    file = path;
  }
  return files;
}

std::optional<fs::path> find_single_file(const fs::path& folder, const std::string& name,
                                         const std::vector<std::string>& endings) {
  for (const auto& file : find_split_files(folder, endings))
    if (file) return {};
  return find_file(folder, {name}, endings);
}

bool can_read_again(const fs::path& path) {
  return fs::is_regular_file(path) || fs::is_directory(path);
}

bool holds_at_most(const fs::path& path, int64_t bytes) {
  if (!fs::is_directory(path)) return int64_t(fs::file_size(path)) <= bytes;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && (bytes -= int64_t(entry.file_size())) < 0) return false;
  return true;
}

void with_truth(const fs::path& source, const std::string& task,
                const std::function<void(const Field& truth)>& read) {
  const fs::path path = source / "dataset.json";
  if (!fs::is_directory(source) || !fs::exists(path)) return;
  const Json description = read_description(path, task);
  if (const auto truth = Field::root(description, path.string()).find("truth")) read(*truth);
}

TimeSplit split_in_time(int64_t steps, double validation_fraction, double test_fraction) {
  TimeSplit split;
  split.validation = std::llround(double(steps) * validation_fraction);
  split.test = std::llround(double(steps) * test_fraction);
  split.train = steps - split.validation - split.test;
  require(validation_fraction >= 0 && test_fraction >= 0 && split.train > 0,
          ErrorKind::InvalidArgument, "validation_fraction ", validation_fraction,
          " and test_fraction ", test_fraction, " leave no training step of ", format_count(steps),
          "; together they must be less than 1");
  return split;
}

}  // namespace fovea
