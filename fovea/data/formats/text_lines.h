// The lines of a text file, plain or gzip: UTF-8, without line ends (LF or CR LF) and without a
// byte order mark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace fovea {

class TextLines {
 public:
  static constexpr int64_t kLongestLine = 1'000'000;  // bytes

  /// NotFound, Io, or BadData for a damaged archive or more than `max_bytes`.
  TextLines(const std::filesystem::path& path, int64_t max_bytes);

  /// The next line, valid as long as this object. False at the end. BadData with path:line for a
  /// line that is too long or not UTF-8.
  bool next(std::string_view& line);

  int64_t number() const { return number_; }  // of the last line, from 1
  int64_t count() const { return count_; }    // of all lines
  std::string place() const;                  // "train.tsv:17", the last line
  const std::string& path() const { return path_; }
  const std::string& hash() const { return hash_; }  // ContentHash of the file's bytes

 private:
  std::string path_, content_, hash_;
  size_t at_ = 0;
  int64_t number_ = 0, count_ = 0;
};

}  // namespace fovea
