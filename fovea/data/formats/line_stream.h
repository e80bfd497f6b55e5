// The lines of a file of any size, plain or gzip, of which one at a time is in memory. TextLines is
// for files that are read as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace fovea {

class LineStream {
 public:
  static constexpr size_t kLongestLine = 1'000'000;  // bytes

  /// NotFound or Io; Unsupported for gzip in a build without zlib.
  explicit LineStream(const std::filesystem::path& path);
  ~LineStream();

  /// The next line without its end (LF or CR LF), valid until the next call. False behind the last
  /// one. BadData with path:line for one that is too long, and for a damaged archive.
  bool next(std::string_view& line);

  std::string place() const;  // "vectors.txt:17", the last line
  /// Whether the last line had an end; a file that was cut in mid-line has none there.
  bool has_end() const { return has_end_; }

 private:
  bool fill();  // more bytes at the end of the buffer; false: there are none
  struct File;
  std::string path_;
  std::unique_ptr<File> file_;
  std::string buffer_;
  size_t at_ = 0;
  int64_t number_ = 0;
  bool has_end_ = true;
};

}  // namespace fovea
