// The lines of a text file of any size, plain or gzip: UTF-8, without line ends (LF or CR LF) and
// without a byte order mark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "fovea/data/formats/bytes.h"

namespace fovea {

class TextLines {
 public:
  static constexpr int64_t kLongestLine = 1'000'000;  // bytes

  /// NotFound, Io, or BadData for a damaged archive or more than `max_bytes`.
  TextLines(const std::filesystem::path& path, int64_t max_bytes);

  /// The next line, valid until the next call. False at the end. BadData with path:line for a
  /// line that is too long or not UTF-8.
  bool next(std::string_view& line);

  int64_t number() const { return number_; }  // of the last line, from 1
  std::string place() const;                  // "train.tsv:17", the last line
  const std::string& path() const { return path_; }
  /// ContentHash of the file's bytes; next() was false.
  std::string hash() const { return stream_.hash(); }

 private:
  std::string path_;
  ByteStream stream_;
  std::string buffer_;
  size_t at_ = 0;
  int64_t number_ = 0;
};

}  // namespace fovea
