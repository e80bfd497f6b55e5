#include "fovea/training/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLock = ".lock";
constexpr std::string_view kBeginning = "a training begins here; there is no checkpoint yet\n";
const std::string kAssets = "assets/";  // as the manifest writes it
// For people who try the run in a browser, and somebody's data: no answer depends on it, so it may
// be changed or removed.
const std::string kExamples = kAssets + "examples.json";

/// A training began to write here and did not come to its first checkpoint.
bool is_beginning(const fs::path& folder) {
  std::error_code ignored;
  const fs::path lock = folder / kLock;
  return fs::is_regular_file(fs::symlink_status(lock, ignored)) &&
         fs::file_size(lock, ignored) == kBeginning.size() && read_file(lock) == kBeginning;
}

/// What lies in a folder, without what a training leaves there before it writes anything.
std::vector<std::string> contents_of(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code reason;
  for (const auto& entry : fs::directory_iterator(folder, reason)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name == kLock || is_temporary(name) ||
                      (name == "assets" && entry.is_directory() && !entry.is_symlink() &&
                       contents_of(entry.path()).empty());
    if (!ours) names.push_back(name);
  }
  require(!reason || reason == std::errc::no_such_file_or_directory, ErrorKind::Io, folder.string(),
          ": cannot be read (", reason.message(), ")");
  std::sort(names.begin(), names.end());
  return names;
}

/// Whether config.json says that the folder is a run.
bool is_run(const RunFolder& folder) {
  try {
    const Json config = folder.read_config();
    return config.contains("task") && config["task"].is_string();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::Unsupported;  // of a newer fovea
  }
}

/// What a new run replaces. config.json is the first: without it nobody takes the rest for a run.
std::vector<fs::path> files_of(const RunFolder& folder) {
  std::vector<fs::path> files{folder.config(),    folder.last(),    folder.model(),
                              folder.held_out(),  folder.metrics(), folder.steps(),
                              folder.attention(), folder.manifest()};
  for (const char* name : kAdapterFiles) files.push_back(folder.path() / name);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder.path() / "assets", none))
    files.push_back(entry.path());
  return files;
}

void check_claim(const RunFolder& folder, Claim how) {
  const std::string path = folder.path().string();
  if (how == Claim::Resume)
    require(folder.holds_run(), ErrorKind::NotFound, path,
            ": there is no checkpoint to resume; train without --resume");
  if (how == Claim::Resume || !fs::exists(folder.path())) return;
  require(fs::is_directory(folder.path()), ErrorKind::InvalidArgument, path,
          ": is a file; choose another --out");
  const bool replaces = how == Claim::Overwrite;
  require(replaces || !folder.holds_run(), ErrorKind::InvalidArgument, path,
          ": already holds a run; add --resume to go on with it, --overwrite to replace it, or "
          "choose another --out");
  if (is_beginning(folder.path())) return;
  const std::vector<std::string> names = contents_of(folder.path());
  if (names.empty()) return;
  const bool is_ours = is_run(folder);
  require(replaces || !is_ours, ErrorKind::InvalidArgument, path,
          ": holds a run whose last.safetensors is gone; add --overwrite to replace the run, or "
          "choose another --out");
  // The assets of a run are replaced as a whole, so they must be a run's.
  require(is_ours || std::find(names.begin(), names.end(), "assets") == names.end(),
          ErrorKind::InvalidArgument, path,
          ": has a folder assets/ that is not from a run; choose another --out");
  for (const fs::path& file : files_of(folder)) {
    const auto type = fs::symlink_status(file).type();
    require(type == fs::file_type::regular || type == fs::file_type::not_found,
            ErrorKind::InvalidArgument, file.string(),
            ": is no plain file and is not replaced; choose another --out");
  }
  require(replaces, ErrorKind::InvalidArgument, path, ": is neither empty nor a run, it holds ",
          printable(names[0]), names.size() > 1 ? concat(" and ", names.size() - 1, " more") : "",
          "; choose another --out, or add --overwrite to write a run between these files");
}

/// BadData for a name that no run has: nothing outside assets/ is ever opened.
constexpr size_t kShownName = 100;  // bytes of a name in a message

void check_asset_name(const std::string& file, const std::string& where) {
  const std::string name = file.starts_with(kAssets) ? file.substr(kAssets.size()) : "";
  require(!name.empty() && name[0] != '.' && name.find('/') == std::string::npos &&
              name.find('\0') == std::string::npos,
          ErrorKind::BadData, where, ": names the file '",
          printable(shorten_bytes(file, kShownName)),
          "', which no run has; the manifest was changed");
}

Json hashes_in(const RunFolder& folder) {
  Json hashes = Json::object();
  if (!fs::exists(folder.manifest())) return hashes;
  const Json manifest = read_json_file(folder.manifest());
  const std::string where = folder.manifest().string();
  if (const auto files = Field::root(manifest, where).find("files"))
    files->each_member([&](const std::string& file, const Field& hash) {
      check_asset_name(file, where);
      hashes[file] = hash.value().is_null() ? Json() : Json(hash.text());
    });
  return hashes;
}

/// Those that check_claim() has looked at.
void remove_run(const RunFolder& folder) {
  for (const fs::path& file : files_of(folder)) {
    std::error_code reason;
    fs::remove(file, reason);
    require(!reason, ErrorKind::Io, file.string(), ": cannot be removed (", reason.message(), ")");
  }
}

}  // namespace

/// A claim, from the lock to the first checkpoint and beyond.
class RunFolder::Hold {
 public:
  Hold(const RunFolder& folder, Claim how)
      : folder_(folder.path()),
        made_(make_folder(folder.path())),
        lock_(folder.path() / kLock, concat(folder.path().string(),
                                            ": another training is writing into this folder; wait "
                                            "for it or choose another --out")),
        state_(how == Claim::Resume ? State::Begun : State::Claimed) {}

  ~Hold() {
    if (state_ == State::Begun || !lock_.still_there()) return;
    try {
      if (state_ == State::Beginning) remove_run(folder_);
    } catch (const Error&) {
      return;  // the note in .lock stays: the next training clears up
    }
    if (state_ == State::Beginning) ::rmdir((folder_.path() / "assets").c_str());
    if (state_ == State::Beginning || lock_.made()) lock_.remove();
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) ::rmdir(folder->c_str());
  }

  void begin() {
    lock_.write(kBeginning);
    state_ = State::Beginning;
    remove_run(folder_);
    make_folder(folder_.path() / "assets");
  }

  void begun() {
    if (state_ == State::Beginning) lock_.write("");
    state_ = State::Begun;
  }

  bool still_there() const { return lock_.still_there(); }

 private:
  enum class State { Claimed, Beginning, Begun };

  RunFolder folder_;
  std::vector<fs::path> made_;
  FileLock lock_;
  State state_;
};

bool RunFolder::holds_run() const {
  return fs::exists(config()) && fs::exists(last());
}

void RunFolder::claim(Claim how) {
  check_claim(*this, how);  // so that a refused folder is not even touched
  auto hold = std::make_shared<Hold>(*this, how);
  check_claim(*this, how);  // now that nobody else can change it
  remove_stale_temporaries(path_);
  remove_stale_temporaries(path_ / "assets");
  hold_ = std::move(hold);
}

void RunFolder::begin() const {
  require_still_ours();
  if (hold_) hold_->begin();
}

void RunFolder::begun() const {
  if (hold_) hold_->begun();
}

void RunFolder::require_still_ours() const {
  require(!hold_ || hold_->still_there(), ErrorKind::Io, path_.string(),
          ": the folder was removed or replaced while a training was writing into it; the training "
          "ends, and nothing is written into the new one");
}

bool RunFolder::is_held() const {
  return is_locked(path_ / kLock);
}

std::string RunFolder::unfinished() const {
  std::error_code ignored;
  if (!fs::exists(manifest(), ignored)) return {};
  const Json json = read_json_file(manifest());
  const auto training = Field::root(json, manifest().string()).find("training");
  if (!training || training->at("finished").mark()) return {};
  constexpr const char* kUnfinished =
      "the training of this run did not finish (interrupted, or still going on); ";
  TrainerState state;
  try {
    const std::string where = last().string();
    state = TrainerState::from_json(parse_json(read_safetensors_metadata(last())["trainer"], where),
                                    where);
  } catch (const Error&) {
    return concat(kUnfinished,
                  "of which epoch its weights are is not known, since last.safetensors is missing "
                  "or damaged");
  }
  if (state.best_epoch == 0)
    return "WARNING: no epoch of this run's training was written; the weights are untrained and "
           "the answers mean nothing";
  const std::string lines = fs::exists(metrics(), ignored) ? read_file(metrics()) : "";
  const bool has_later = std::count(lines.begin(), lines.end(), '\n') > state.reports;
  return concat(kUnfinished, "the answers are those of epoch ", state.best_epoch,
                state.epoch > 1 ? concat(", the best of the first ", state.epoch) : "",
                has_later ? "; weights of later epochs were not written" : "");
}

Json RunFolder::read_config() const {
  require(!fs::is_regular_file(path_), ErrorKind::NotFound, path_.string(),
          ": is a file, not a run; name a folder made by fovea train");
  require(fs::is_directory(path_), ErrorKind::NotFound, path_.string(),
          ": there is no such run (a folder made by fovea train)");
  for (const fs::path& file :
       {config(), manifest(), metrics(), steps(), attention(), model(), last()}) {
    std::error_code ignored;  // a pipe or a device might have no end
    require(!fs::exists(file, ignored) || fs::is_regular_file(file, ignored), ErrorKind::BadData,
            file.string(), ": is no plain file");
  }
  require(fs::exists(last()) || !is_beginning(path_), ErrorKind::NotFound, path_.string(),
          ": holds no run yet; a training is beginning here, or was ended before its first "
          "checkpoint: train again");
  require(!contents_of(path_).empty(), ErrorKind::NotFound, path_.string(),
          ": holds no run; the folder is empty");
  require(fs::exists(config()), ErrorKind::NotFound, path_.string(),
          ": not a run, config.json is missing; name a folder made by fovea train");
  Json json = read_json_file(config());
  require(json.is_object() && json.contains("format_version") &&
              json["format_version"].is_number_integer(),
          ErrorKind::BadData, config().string(),
          ": neither a run's, format_version is missing, nor a Hugging Face folder's, which has "
          "model_type or architectures; the file is damaged or of something else");
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
  write_json_file(new_asset(name), value);
}

fs::path RunFolder::new_asset(const std::string& name) const {
  written_->insert(name);
  return asset(name);
}

Json RunFolder::hashes_of_assets() const {
  Json files = Json::object();
  for (const std::string& name : *written_) files[kAssets + name] = hash_of_file(asset(name));
  return files;
}

void RunFolder::check_assets() const {
  const Json files = hashes_in(*this);
  for (const auto& [file, hash] : files.items()) {
    if (file == kExamples) continue;
    const fs::path path = path_ / file;
    std::error_code ignored;
    require(fs::exists(path, ignored), ErrorKind::NotFound, path_.string(),
            ": the run is incomplete, ", file, " is missing");
    require(fs::is_regular_file(path, ignored), ErrorKind::BadData, path.string(),
            ": is no plain file");
    require(hash.is_null() || hash_of_file(path) == hash.get<std::string>(), ErrorKind::BadData,
            path.string(),
            ": changed since the run was made, so its answers may mean something else; take the "
            "file from a backup or, if the change is meant, write null for its hash in "
            "manifest.json");
  }
  if (files.empty()) return;
  // One more can count as well: which tokenisers there are is decided by which files there are.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_ / "assets", ignored)) {
    const std::string name = entry.path().filename().string(),
                      ending = entry.path().extension().string();
    const bool is_read =
        name[0] != '.' && (ending == ".json" || ending == ".model" || ending == ".safetensors");
    require(!is_read || files.contains(kAssets + name) || kAssets + name == kExamples,
            ErrorKind::BadData, entry.path().string(),
            ": is not from this run, manifest.json does not list it; remove it");
  }
}

void MetricsLog::keep(int64_t lines) {
  std::string kept;
  if (fs::exists(path_)) {
    kept = read_file(path_);
    size_t end = 0;  // of what is kept
    for (int64_t line = 0; line < lines; ++line) {
      const size_t next = kept.find('\n', end);
      if (next == std::string::npos) break;  // a crash cut this line short
      end = next + 1;
    }
    kept.resize(end);
  }
  write_file(path_, kept);
}

void MetricsLog::append(const Json& record) {
  append_to_file(path_, record.dump() + "\n");
}

}  // namespace fovea
