// Files that cannot be lost half-way: written under a temporary name, synced, renamed. Also locks
// and content hashes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace fovea {

/// The whole file. NotFound when it is missing, Io when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// A file that appears under its name only when commit() has succeeded. Whatever stood there before
/// stays intact until then; a destructor without commit removes the temporary file.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  [[noreturn]] void give_up(const char* doing);
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Removes the temporary files that writers which were killed have left in the folder.
void remove_stale_temporaries(const std::filesystem::path& folder);

/// AtomicFile in one call.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Creates the folder and its parents; Io with the reason when that fails.
void make_folder(const std::filesystem::path& path);

/// An exclusive lock on a file, held until destruction or until the process ends, however it ends.
class FileLock {
 public:
  /// Throws InvalidArgument with `busy_message` when another process holds the lock.
  FileLock(const std::filesystem::path& path, const std::string& busy_message);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Whether the locked file still stands under its name: no longer so when somebody has removed
  /// its folder and made it again.
  bool still_there() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// 64-bit FNV-1a, enough to notice that a file changed; not a cryptographic hash.
class ContentHash {
 public:
  void add(const void* bytes, size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  std::string text() const;  // "fnv1a64:0123456789abcdef"

 private:
  uint64_t state_ = 0xcbf29ce484222325ull;
};

std::string hash_of_file(const std::filesystem::path& path);

}  // namespace fovea
