#include "fovea/data/media_table.h"

#include <mutex>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace fs = std::filesystem;

const std::vector<std::string> kMediaTableEndings = {".csv", ".tsv", ".tab"};

namespace {

CsvTable read_table(const fs::path& path, const std::string& quotes) {
  CsvOptions reading;
  reading.quotes = quotes == "auto" ? plain_ending(path) == ".csv" : quotes == "yes";
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

void describe_bad_share(OptionList& list, double& share) {
  describe_share(list, "max_bad_share", share,
                 "files that cannot be read are named and left out, up to this share of them; 0: "
                 "the first one stops (--strict)");
}

std::vector<bool> read_files(int64_t count, const std::function<void(int64_t)>& read,
                             const std::function<std::string(int64_t)>& place_of,
                             const LoadProgress& progress, double max_bad_share,
                             std::vector<std::string>& notes) {
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
  std::vector<bool> bad;
  std::vector<std::string> shown;
  constexpr size_t kShown = 5;
  int64_t bad_count = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto& error = errors[size_t(i)];
    bad.push_back(error.has_value());
    bad_count += error.has_value();
    if (error && shown.size() < kShown) shown.push_back(concat(place_of(i), ": ", error->what()));
  }
  if (bad_count == 0) return bad;
  const bool few = double(bad_count) <= max_bad_share * double(count);
  if (!few)
    for (int64_t i = 0; i < count; ++i)
      if (const auto& error = errors[size_t(i)])
        fail(error->kind(), place_of(i), ": ", error->what(),
             max_bad_share == 0 || count == 1
                 ? ""
                 : concat("; ", format_count(bad_count), " of ", format_count(count),
                          " files cannot be read, more than data.max_bad_share=", max_bad_share,
                          " leaves out"));
  if (bad_count > int64_t(kShown))
    shown.push_back(concat("and ", format_count(bad_count - int64_t(kShown)), " more"));
  notes.push_back(concat(format_count(bad_count), " of ", format_count(count),
                         " files cannot be read and are left out: ", join(shown, "; ")));
  return bad;
}

}  // namespace fovea
