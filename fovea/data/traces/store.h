// Accesses of a trace that may be larger than memory: an array in a file without a name, which is
// gone when the object is, mapped into memory once it is written. The operating system keeps in
// memory what is used and there is room for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <type_traits>
#include <vector>

namespace fovea {

/// Bytes that are written once, then read anywhere.
class ScratchFile {
 public:
  /// In `folder`, empty: the system's for temporary files. Io when none can be made.
  explicit ScratchFile(const std::filesystem::path& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Io, with what to do, when there is no room.
  void write(const void* bytes, size_t size);
  /// No more is written from now on.
  void map();

  const void* data() const { return data_; }  // null before map(), and where nothing was written
  size_t size() const { return size_; }       // bytes

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
  size_t size_ = 0;
  void* data_ = nullptr;
};

template <class Record>
class ScratchArray {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  explicit ScratchArray(const std::filesystem::path& folder) : file_(folder) {}

  void push_back(const Record& record) {
    waiting_.push_back(record);
    if (waiting_.size() == kTogether) flush();
  }
  /// No more records from now on; before, none can be read.
  void finish() {
    flush();
    waiting_ = {};
    file_.map();
  }

  int64_t size() const { return int64_t(file_.size() / sizeof(Record)); }
  const Record& operator[](int64_t index) const {
    return static_cast<const Record*>(file_.data())[index];
  }

 private:
  static constexpr size_t kTogether = 1 << 14;
  void flush() {
    file_.write(waiting_.data(), waiting_.size() * sizeof(Record));
    waiting_.clear();
  }
  ScratchFile file_;
  std::vector<Record> waiting_;
};

/// One access as a prefetcher sees it.
struct StoredAccess {
  int64_t line = 0;  // address / 64: 58 bits
  uint64_t pc = 0;
};
using TraceStore = ScratchArray<StoredAccess>;

}  // namespace fovea
