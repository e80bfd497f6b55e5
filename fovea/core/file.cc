#include "fovea/core/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "fovea/core/error.h"

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
  const Descriptor file(open_to_read(path));
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t count = ::read(file.value, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    require(count >= 0, ErrorKind::Io, path.string(), ": cannot be read (", std::strerror(errno),
            ")");
    if (count == 0) return;
    use(buffer.data(), static_cast<size_t>(count));
  }
}

constexpr std::string_view kTemporaryEnd = ".fovea-tmp";
constexpr size_t kRandomLetters = 16;

/// ".model.safetensors.0123456789abcdef.fovea-tmp" beside the file.
fs::path temporary_name(const fs::path& path) {
  std::random_device random;
  char letters[kRandomLetters + 1];
  std::snprintf(letters, sizeof letters, "%08x%08x", random(), random());
  return path.parent_path() / concat(".", path.filename().string(), ".", letters, kTemporaryEnd);
}

}  // namespace

void remove_stale_temporaries(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(kTemporaryEnd)) fs::remove(entry.path(), ignored);
  }
}

std::string read_file(const fs::path& path) {
  std::string content;
  for_each_piece(path, [&](const char* bytes, size_t size) { content.append(bytes, size); });
  return content;
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  // A hidden sibling whose name nobody can foresee, and never through somebody's link.
  for (int attempt = 0; attempt < 16 && descriptor_ < 0; ++attempt) {
    temporary_ = temporary_name(path);
    descriptor_ =
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (descriptor_ < 0 && errno != EEXIST) break;
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

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) give_up("synced");
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    fail(ErrorKind::Io, path_.string(), ": cannot be written (", std::strerror(reason), ")");
  }
  // The rename itself must survive a power cut too.
  const Descriptor folder(::open(path_.has_parent_path() ? path_.parent_path().c_str() : ".",
                                 O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.value >= 0) ::fsync(folder.value);
}

void write_file(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void make_folder(const fs::path& path) {
  std::error_code reason;
  fs::create_directories(path, reason);
  require(!reason && fs::is_directory(path), ErrorKind::Io, path.string(),
          ": cannot be made a folder (",
          reason ? reason.message() : "a file of that name is in the way", ")");
}

FileLock::FileLock(const fs::path& path, const std::string& busy_message) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  require(descriptor_ >= 0, ErrorKind::Io, path.string(), ": cannot be locked (",
          std::strerror(errno), ")");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    descriptor_ = -1;
    fail(ErrorKind::InvalidArgument, busy_message);
  }
}

bool FileLock::still_there() const {
  struct stat held {
  }, found{};
  return ::fstat(descriptor_, &held) == 0 && ::lstat(path_.c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
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
