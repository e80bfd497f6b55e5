#include "fovea/training/run_folder.h"

#include <fstream>

#include "fovea/core/error.h"

namespace fovea {

namespace fs = std::filesystem;

bool RunFolder::holds_run() const {
  return fs::exists(config()) && fs::exists(last());
}

void RunFolder::claim() {
  make_folder(path_);
  make_folder(path_ / "assets");
  lock_ = std::make_shared<FileLock>(path_ / ".lock",
                                     concat(path_.string(),
                                            ": another training is writing into this folder; wait "
                                            "for it or choose another --out"));
}

Json RunFolder::read_config() const {
  require(fs::is_directory(path_), ErrorKind::NotFound, path_.string(),
          ": there is no such run (a folder made by fovea train)");
  require(fs::exists(config()), ErrorKind::NotFound, path_.string(),
          ": not a run, config.json is missing");
  Json json = read_json_file(config());
  require(json.is_object() && json.contains("format_version") &&
              json["format_version"].is_number_integer(),
          ErrorKind::BadData, config().string(),
          ": format_version is missing; the file is damaged or not from fovea");
  const auto version = json["format_version"].get<int64_t>();
  require(version == kRunFormatVersion, ErrorKind::Unsupported, config().string(), ": run format ",
          version, ", this fovea reads ", kRunFormatVersion,
          version > kRunFormatVersion ? "; a newer fovea made it" : "");
  json.erase("format_version");
  return json;
}

Json RunFolder::read_asset(const std::string& name) const {
  require(fs::exists(asset(name)), ErrorKind::NotFound, path_.string(),
          ": the run is incomplete, assets/", name, " is missing");
  return read_json_file(asset(name));
}

void RunFolder::write_asset(const std::string& name, const Json& value) const {
  write_json_file(asset(name), value);
}

void MetricsLog::keep(int64_t lines) {
  std::string kept;
  if (fs::exists(path_)) {
    const std::string content = read_file(path_);
    size_t end = 0;
    for (int64_t line = 0; line < lines && end != std::string::npos; ++line)
      end = content.find('\n', line == 0 ? 0 : end + 1);
    kept = lines == 0 ? "" : content.substr(0, end == std::string::npos ? end : end + 1);
  }
  write_file(path_, kept);
}

void MetricsLog::append(const Json& record) {
  std::ofstream file(path_, std::ios::app);
  file << record.dump() << '\n' << std::flush;
  require(file.good(), ErrorKind::Io, path_.string(), ": cannot be written (is the disk full?)");
}

}  // namespace fovea
