// Files and folders that cannot be lost half-way: written under a temporary name, synced, renamed.
// Also locks and content hashes.
//
// A temporary name is hidden and ends in 16 random digits and .fovea-tmp. Its writer holds a lock
// on it, so that what a killed writer has left can be told from what somebody is writing just now.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

/// A file, or a pipe, from its beginning to its end. NotFound, Io.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  size_t read(char* into, size_t size);  // how many bytes there were; 0: no more

 private:
  std::string path_;
  int descriptor_;
};

/// The whole file. NotFound when it is missing, Io when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// A file that appears under its name only when commit() has succeeded. Whatever stood there before
/// stays intact until then; a destructor without commit removes the temporary file.
class AtomicFile {
 public:
  /// Io when the file cannot be made there, or when what stands there is no plain file: a folder, a
  /// link, a device or a pipe is never replaced.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void sync();  // the bytes are on the disk; commit() does so as well
  void commit();

 private:
  [[noreturn]] void give_up(const char* doing);
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// A folder that appears under its name, with all that was written into it, only when commit() has
/// succeeded. A destructor without commit removes it.
class AtomicFolder {
 public:
  /// InvalidArgument when something stands there already, other than an empty folder. Removes what
  /// killed writers of the same folder have left beside it.
  explicit AtomicFolder(const std::filesystem::path& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Where to write until then.
  const std::filesystem::path& path() const { return temporary_; }
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::vector<std::filesystem::path> parents_;  // that had to be made
  int descriptor_ = -1;
};

/// Whether the name is one of a temporary file or folder.
bool is_temporary(const std::filesystem::path& path);

/// Removes the temporary files and folders that killed writers have left in the folder: all of
/// them, or those of one `name`. What somebody is still writing stays.
void remove_stale_temporaries(const std::filesystem::path& folder, const std::string& name = "");

/// For `--out FILE`, before the work: throws what AtomicFile would throw after it, and removes what
/// killed writers of that file have left.
void check_output_file(const std::filesystem::path& path);

/// AtomicFile in one call.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Files that belong together. Whenever this ends, all of them are the old ones, or all are the new
/// ones, or one is missing: an old and a new one are never there together.
void write_together(
    const std::vector<std::pair<std::filesystem::path, std::string_view>>& contents);

/// Appends to a file and syncs it.
void append_to_file(const std::filesystem::path& path, std::string_view text);
/// Without waiting for the disk.
void append_unsynced(const std::filesystem::path& path, std::string_view text);

/// Creates the folder and its parents; Io with the reason when that fails. Returns those that were
/// not there before, the outermost first.
std::vector<std::filesystem::path> make_folder(const std::filesystem::path& path);

/// An exclusive lock on a file, held until destruction or until the process ends, however it ends.
class FileLock {
 public:
  /// Makes the file where there is none. Throws InvalidArgument with `busy_message` when another
  /// process holds the lock.
  FileLock(const std::filesystem::path& path, const std::string& busy_message);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Whether the locked file still stands under its name: no longer so when somebody has removed
  /// its folder and made it again.
  bool still_there() const;
  /// Whether there was no such file before.
  bool made() const { return made_; }
  /// The file's content from now on.
  void write(std::string_view note);
  /// Removes the file, if it still is the locked one.
  void remove();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool made_ = false;
};

/// Another text whenever the file was written or replaced; empty where there is none.
std::string version_of_file(const std::filesystem::path& path);

/// Whether somebody holds a FileLock on that file just now. Looking holds up nobody.
bool is_locked(const std::filesystem::path& path);

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
