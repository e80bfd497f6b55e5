#include "fovea/data/media_table.h"

#include <mutex>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace fs = std::filesystem;

const std::vector<std::string> kMediaTableEndings = {".csv", ".tsv", ".tab"};

namespace {

CsvTable read_table(const fs::path& path, const std::string& quotes) {
  CsvOptions reading;
  const fs::path name = path.extension() == ".gz" ? path.stem() : path;
  reading.quotes = quotes == "auto" ? name.extension() == ".csv" : quotes == "yes";
  return read_csv(path, reading);
}

}  // namespace

MediaTable::MediaTable(const fs::path& path, const MediaTableOptions& options, const char* option,
                       const char* example)
    : options_(options) {
  require(options.files.empty() || options.files.find("{}") != std::string::npos,
          ErrorKind::InvalidArgument, option, "=", options.files,
          " names no place for a row's cell; write {} where it belongs, as in ", example);
  table_ = read_table(path, options.quotes);
}

int64_t MediaTable::find(const std::string& role, const std::vector<std::string>& names) const {
  if (options_.roles.contains(role)) return table_.column(single_role(options_.roles, role, role));
  for (const std::string& name : names)
    if (const int64_t column = table_.find(name); column >= 0) return column;
  return -1;
}

int64_t MediaTable::split_column() const {
  const int64_t column = find("split", {"split"});
  const bool counts =
      column >= 0 && (options_.roles.contains("split") || names_splits(table_, column));
  return counts ? column : -1;
}

fs::path MediaTable::file_of(const std::string& cell) const {
  std::string path = options_.files.empty() ? "{}" : options_.files;
  for (size_t at = path.find("{}"); at != std::string::npos; at = path.find("{}", at + cell.size()))
    path.replace(at, 2, cell);
  return fs::path(table_.path).parent_path() / path;
}

void read_files(int64_t count, const std::function<void(int64_t)>& read,
                const std::function<std::string(int64_t)>& place_of, const FileProgress& progress) {
  std::vector<std::optional<Error>> errors(static_cast<size_t>(count));
  std::mutex telling;
  int64_t done = 0;
  run_parallel(count, [&](int64_t i) {
    try {
      read(i);
    } catch (const Error& error) {
      errors[size_t(i)] = error;
    }
    const std::lock_guard lock(telling);
    ++done;
    if (progress) progress(done, count);
  });
  for (int64_t i = 0; i < count; ++i)
    if (const auto& error = errors[size_t(i)])
      fail(error->kind(), place_of(i), ": ", error->what());
}

}  // namespace fovea
