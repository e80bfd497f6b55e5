#include "fovea/data/formats/bytes.h"

#ifdef FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

namespace {

[[noreturn]] void too_large(const std::string& path, int64_t limit) {
  fail(ErrorKind::BadData, path, ": holds more than ", format_count(limit),
       " bytes, the limit for one file; split it or raise the limit");
}

#ifdef FOVEA_WITH_ZLIB

/// A zlib stream that frees itself.
class Inflater {
 public:
  explicit Inflater(std::string path) : path_(std::move(path)) {
    constexpr int kGzipOnly = 15 + 16;
    require(inflateInit2(&stream_, kGzipOnly) == Z_OK, ErrorKind::Internal, "zlib did not start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::string unpack(const std::string& packed, int64_t limit) {
    std::string content;
    size_t used = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END || used < packed.size()) {
      if (status == Z_STREAM_END) inflateReset(&stream_);  // the next member
      const bool more_output = stream_.next_out != nullptr && stream_.avail_out == 0;
      if (used == packed.size() && !more_output)
        damaged("it ends too early; was the copy cut short?");
      status = step(packed, used, content);
      if (static_cast<int64_t>(content.size()) > limit) too_large(path_, limit);
    }
    return content;
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 20;

  [[noreturn]] void damaged(const std::string& why) const {
    fail(ErrorKind::BadData, path_, ": damaged gzip file: ", why);
  }

  /// Unpacks one piece and advances `used`.
  int step(const std::string& packed, size_t& used, std::string& content) {
    const size_t filled = content.size();
    content.resize(filled + kPiece);
    const size_t given = std::min(packed.size() - used, kPiece);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + used));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(content.data() + filled);
    stream_.avail_out = static_cast<uInt>(kPiece);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    content.resize(filled + kPiece - stream_.avail_out);
    used += given - stream_.avail_in;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      damaged(concat(stream_.msg != nullptr ? stream_.msg : "unreadable", " near byte ", used));
    return status;
  }

  std::string path_;
  z_stream stream_{};
};

#endif

bool is_gzip(const std::string& bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

}  // namespace

FileBytes read_bytes(const std::filesystem::path& path, int64_t limit) {
  std::string raw = read_file(path);
  ContentHash hash;
  hash.add(raw);
  if (!is_gzip(raw)) {
    require(path.extension() != ".gz", ErrorKind::BadData, path.string(),
            ": is named .gz but is not a gzip file; rename it if it is plain text");
    if (static_cast<int64_t>(raw.size()) > limit) too_large(path.string(), limit);
    return {std::move(raw), hash.text()};
  }
#ifdef FOVEA_WITH_ZLIB
  return {Inflater(path.string()).unpack(raw, limit), hash.text()};
#else
  fail(ErrorKind::Unsupported, path.string(),
       ": is a gzip file and this build has no zlib; unpack it first (gunzip) or build with "
       "FOVEA_WITH_ZLIB=ON");
#endif
}

std::string read_small_file(const std::filesystem::path& path, int64_t largest) {
  const std::string where = path.string();
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  require(std::filesystem::exists(status), ErrorKind::NotFound, where, ": no such file");
  require(std::filesystem::is_regular_file(status), ErrorKind::BadData, where, ": is no file");
  const auto size = int64_t(std::filesystem::file_size(path, error));
  require(!error && size <= largest, ErrorKind::BadData, where, ": has ", format_count(size),
          " bytes; at most ", format_count(largest), " are read");
  return read_file(path);
}

}  // namespace fovea
