#include "fovea/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "fovea/base/error.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// A file descriptor that closes itself.
struct Descriptor {
  int value;
  explicit Descriptor(int opened) : value(opened) {}
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

int open_to_read(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
    fail(ErrorKind::NotFound, path.string(), ": no such file");
  require(descriptor >= 0, ErrorKind::Io, path.string(), ": cannot be opened (",
          std::strerror(errno), ")");
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    fail(ErrorKind::InvalidArgument, path.string(), ": is a folder, a file is needed");
  }
  return descriptor;
}

/// Feeds the file to `use` in pieces.
template <class Use>
void for_each_piece(const fs::path& path, Use use) {
  InputFile file(path);
  std::vector<char> buffer(1 << 16);
  while (const size_t count = file.read(buffer.data(), buffer.size())) use(buffer.data(), count);
}

constexpr std::string_view kTemporaryEnd = ".fovea-tmp";
constexpr size_t kRandomLetters = 16;
constexpr size_t kTail = 1 + kRandomLetters + kTemporaryEnd.size();
constexpr int kAttempts = 16;  // to find a name that nobody has

/// As much of a file's name as fits into that of its temporary one.
std::string stem_of(const std::string& name) {
  constexpr size_t kLongestName = 255;
  return name.substr(0, kLongestName - 1 - kTail);
}

/// ".model.safetensors.0123456789abcdef.fovea-tmp" beside the file.
fs::path temporary_name(const fs::path& path) {
  std::random_device random;
  char letters[kRandomLetters + 1];
  std::snprintf(letters, sizeof letters, "%08x%08x", random(), random());
  return path.parent_path() /
         concat(".", stem_of(path.filename().string()), ".", letters, kTemporaryEnd);
}

bool stands_at(int descriptor, const fs::path& path) {
  struct stat held {
  }, found{};
  return ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

/// Tells remove_stale_temporaries() that the writer lives. False when it was quicker and took the
/// new file for a stale one. Where the file system has no such locks nothing is ever stale.
bool hold(int descriptor, const fs::path& temporary) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return stands_at(descriptor, temporary);
}

void sync_folder_of(const fs::path& path) {
  const Descriptor folder(::open(path.has_parent_path() ? path.parent_path().c_str() : ".",
                                 O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.value >= 0) ::fsync(folder.value);
}

/// What stands there, if that must not be replaced; null when nothing or a plain file does.
const char* obstacle_at(const fs::path& path) {
  std::error_code ignored;  // opening the file will say it better
  switch (fs::symlink_status(path, ignored).type()) {
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::symlink:
      return "a link";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    default:
      return nullptr;
  }
}

void require_plain_file(const fs::path& path) {
  const char* obstacle = obstacle_at(path);
  require(obstacle == nullptr, ErrorKind::Io, path.string(), ": is ", obstacle ? obstacle : "",
          ", which is not replaced by a file; choose another name");
}

/// Removes it unless its writer lives. The lock is kept meanwhile, so that a writer who has just
/// made it notices.
void remove_if_stale(const fs::path& temporary) {
  const Descriptor opened(
      ::open(temporary.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (opened.value < 0 || ::flock(opened.value, LOCK_EX | LOCK_NB) != 0) return;
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
}

void append(const fs::path& path, std::string_view text, bool synced) {
  const Descriptor file(::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
  const auto check = [&](bool good) {
    require(good, ErrorKind::Io, path.string(), ": cannot be written (", std::strerror(errno), ")",
            errno == ENOSPC || errno == EDQUOT ? "; free some space" : "");
  };
  check(file.value >= 0);
  while (!text.empty()) {
    const ssize_t count = ::write(file.value, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    check(count >= 0);
    text.remove_prefix(static_cast<size_t>(count));
  }
  check(!synced || ::fsync(file.value) == 0);
}

/// Again after a moment: is_locked() of somebody else may have looked just now.
bool lock_now(int descriptor) {
  constexpr int kLooks = 5;
  for (int look = 0; look < kLooks; ++look) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

}  // namespace

bool is_temporary(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with('.') || !name.ends_with(kTemporaryEnd) || name.size() <= 1 + kTail)
    return false;
  const std::string_view letters =
      std::string_view(name).substr(name.size() - kTail + 1, kRandomLetters);
  return name[name.size() - kTail] == '.' &&
         letters.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void remove_stale_temporaries(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(folder.empty() ? fs::path(".") : folder, ignored)) {
    if (!is_temporary(entry.path())) continue;
    const std::string found = entry.path().filename().string();
    if (!name.empty() && found.substr(1, found.size() - 1 - kTail) != stem_of(name)) continue;
    const auto type = entry.symlink_status(ignored).type();
    if (type != fs::file_type::regular && type != fs::file_type::directory) continue;
    remove_if_stale(entry.path());
  }
}

void check_output_file(const fs::path& path) {
  remove_stale_temporaries(path.parent_path(), path.filename().string());
  const AtomicFile trial(path);
}

InputFile::InputFile(const fs::path& path)
    : path_(path.string()), descriptor_(open_to_read(path)) {}

InputFile::~InputFile() {
  ::close(descriptor_);
}

size_t InputFile::read(char* into, size_t size) {
  for (;;) {
    const ssize_t count = ::read(descriptor_, into, size);
    if (count >= 0) return static_cast<size_t>(count);
    require(errno == EINTR, ErrorKind::Io, path_, ": cannot be read (", std::strerror(errno), ")");
  }
}

std::string read_file(const fs::path& path) {
  std::string content;
  for_each_piece(path, [&](const char* bytes, size_t size) { content.append(bytes, size); });
  return content;
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  require(path.has_filename(), ErrorKind::InvalidArgument, "'", path.string(),
          "': a file needs a name");
  require_plain_file(path);
  // A hidden sibling whose name nobody can foresee, and never through somebody's link.
  for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
    temporary_ = temporary_name(path);
    descriptor_ =
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (descriptor_ < 0 && errno != EEXIST) break;
    if (descriptor_ >= 0 && !hold(descriptor_, temporary_))
      ::close(descriptor_), descriptor_ = -1, errno = EEXIST;
  }
  if (descriptor_ < 0) give_up("created");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::give_up(const char* doing) {
  const int reason = errno;
  if (descriptor_ >= 0) ::close(descriptor_), ::unlink(temporary_.c_str());
  descriptor_ = -1;
  fail(ErrorKind::Io, path_.string(), ": cannot be ", doing, " (", std::strerror(reason), ")",
       reason == ENOSPC || reason == EDQUOT || reason == EFBIG
           ? "; free some space: what stood there before is unharmed"
           : "");
}

void AtomicFile::write(const void* bytes, size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::write(descriptor_, next, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) give_up("written");
    next += count;
    size -= static_cast<size_t>(count);
  }
}

void AtomicFile::sync() {
  if (::fsync(descriptor_) != 0) give_up("synced");
}

void AtomicFile::commit() {
  sync();
  require_plain_file(path_);
  // Renamed before it is closed: without the lock it could be taken for a stale one.
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) give_up("written");
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  require(closed == 0, ErrorKind::Io, path_.string(), ": cannot be written (", std::strerror(errno),
          ")");
  sync_folder_of(path_);  // the rename itself must survive a power cut too
}

AtomicFolder::AtomicFolder(const fs::path& path) {
  // "data/" and "data" are the same folder; a link to a folder stands for it.
  path_ = fs::absolute(path).lexically_normal();
  if (!path_.has_filename()) path_ = path_.parent_path();
  if (fs::is_directory(path_)) path_ = fs::canonical(path_);
  std::error_code ignored;
  const bool exists = fs::exists(fs::symlink_status(path_));
  require(!exists || (fs::is_directory(path_) && fs::is_empty(path_, ignored)),
          ErrorKind::InvalidArgument, path.string(),
          ": exists and is not an empty folder; choose another");
  require(!exists || !fs::equivalent(path_, fs::current_path(ignored), ignored),
          ErrorKind::InvalidArgument, path.string(),
          ": is the folder you are in, which cannot be replaced by a whole one; name a folder in "
          "it");
  parents_ = make_folder(path_.parent_path());
  remove_stale_temporaries(path_.parent_path(), path_.filename().string());
  int reason = EEXIST;
  for (int attempt = 0; attempt < kAttempts && descriptor_ < 0 && reason == EEXIST; ++attempt) {
    temporary_ = temporary_name(path_);
    if (::mkdir(temporary_.c_str(), 0777) != 0) {
      reason = errno;
      continue;
    }
    descriptor_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor_ >= 0 && !hold(descriptor_, temporary_)) ::close(descriptor_), descriptor_ = -1;
  }
  require(descriptor_ >= 0, ErrorKind::Io, path.string(),
          ": no folder can be made beside it, to be renamed when it is whole (",
          std::strerror(reason), ")", exists ? "; name a folder in it" : "");
}

AtomicFolder::~AtomicFolder() {
  if (descriptor_ < 0) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
  ::close(descriptor_);
  for (auto parent = parents_.rbegin(); parent != parents_.rend(); ++parent)
    ::rmdir(parent->c_str());
}

void AtomicFolder::commit() {
  struct stat before {};
  if (::stat(path_.c_str(), &before) == 0) ::fchmod(descriptor_, before.st_mode & 07777);
  ::fsync(descriptor_);
  // Replaces an empty folder, and nothing else.
  require(::rename(temporary_.c_str(), path_.c_str()) == 0, ErrorKind::Io, path_.string(),
          ": cannot be replaced by the whole folder (", std::strerror(errno),
          "); choose another name");
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder_of(path_);
}

void write_file(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void write_together(const std::vector<std::pair<fs::path, std::string_view>>& contents) {
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (const auto& [path, content] : contents) {
    files.push_back(std::make_unique<AtomicFile>(path));
    files.back()->write(content);
    files.back()->sync();
  }
  // Renames come one after the other: while the first file is new, the others must not be old.
  for (size_t i = 1; i < contents.size(); ++i) {
    const fs::path& path = contents[i].first;
    require(::unlink(path.c_str()) == 0 || errno == ENOENT, ErrorKind::Io, path.string(),
            ": cannot be replaced (", std::strerror(errno), ")");
    sync_folder_of(path);
  }
  for (const auto& file : files) file->commit();
}

void append_to_file(const fs::path& path, std::string_view text) {
  append(path, text, /*synced=*/true);
}

void append_unsynced(const fs::path& path, std::string_view text) {
  append(path, text, /*synced=*/false);
}

std::vector<fs::path> make_folder(const fs::path& path) {
  std::vector<fs::path> made;
  for (fs::path folder = path; !folder.empty() && !fs::exists(folder);) {
    if (folder.has_filename()) made.insert(made.begin(), folder);
    const fs::path parent = folder.parent_path();
    if (parent == folder) break;
    folder = parent;
  }
  std::error_code reason;
  fs::create_directories(path, reason);
  require(!reason && fs::is_directory(path), ErrorKind::Io, path.string(),
          ": cannot be made a folder (",
          reason ? reason.message() : "a file of that name is in the way", ")");
  return made;
}

std::string version_of_file(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "";
  return concat(status.st_ino, ".", status.st_size, ".", status.st_mtim.tv_sec, ".",
                status.st_mtim.tv_nsec);
}

bool is_locked(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file.value >= 0 && ::flock(file.value, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FileLock::FileLock(const fs::path& path, const std::string& busy_message) : path_(path) {
  constexpr int kMode = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  // Again when the holder before us removes the file between our opening and our locking it.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    descriptor_ = ::open(path.c_str(), kMode | O_CREAT | O_EXCL, 0644);
    made_ = descriptor_ >= 0;
    if (!made_ && errno == EEXIST) descriptor_ = ::open(path.c_str(), kMode);
    if (descriptor_ < 0 && errno == ENOENT && fs::is_directory(path.parent_path())) continue;
    require(descriptor_ >= 0, ErrorKind::Io, path.string(), ": cannot be locked (",
            std::strerror(errno), ")");
    const bool locked = lock_now(descriptor_);
    if (locked && still_there()) return;
    ::close(descriptor_);
    descriptor_ = -1;
    if (!locked) break;
  }
  fail(ErrorKind::InvalidArgument, busy_message);
}

bool FileLock::still_there() const {
  return stands_at(descriptor_, path_);
}

void FileLock::write(std::string_view note) {
  const bool written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, note.data(), note.size(), 0) == static_cast<ssize_t>(note.size()) &&
      ::fsync(descriptor_) == 0;
  require(written, ErrorKind::Io, path_.string(), ": cannot be written (", std::strerror(errno),
          ")");
}

void FileLock::remove() {
  if (still_there()) ::unlink(path_.c_str());
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ContentHash::add(const void* bytes, size_t size) {
  const auto* next = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) state_ = (state_ ^ next[i]) * 0x100000001b3ull;
}

std::string ContentHash::text() const {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "fnv1a64:%016llx", static_cast<unsigned long long>(state_));
  return buffer;
}

std::string hash_of_file(const fs::path& path) {
  ContentHash hash;
  for_each_piece(path, [&](const char* bytes, size_t size) { hash.add(bytes, size); });
  return hash.text();
}

}  // namespace fovea
