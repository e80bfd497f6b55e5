#include "fovea/data/formats/bytes.h"

#ifdef FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/formats/text_encoding.h"

namespace fovea {

/// Reads the file and, when it is gzip, unpacks it.
class ByteStream::Pieces {
 public:
  Pieces(const std::filesystem::path& path, int64_t limit)
      : path_(path.string()), file_(path), limit_(limit) {
    fill();
    is_gzip_ = packed_.starts_with("\x1f\x8b");
    require(is_gzip_ || path.extension() != ".gz", ErrorKind::BadData, path_,
            ": is named .gz but is not a gzip file; rename it if it is plain text");
#ifdef FOVEA_WITH_ZLIB
    constexpr int kGzipOnly = 15 + 16;
    require(!is_gzip_ || inflateInit2(&stream_, kGzipOnly) == Z_OK, ErrorKind::Internal,
            "zlib did not start");
#else
    require(!is_gzip_, ErrorKind::Unsupported, path_,
            ": is a gzip file and this build has no zlib; unpack it first (gunzip) or build with "
            "FOVEA_WITH_ZLIB=ON");
#endif
  }
#ifdef FOVEA_WITH_ZLIB
  ~Pieces() {
    if (is_gzip_) inflateEnd(&stream_);
  }
#endif

  bool next(std::string& content) {
    const size_t before = content.size();
#ifdef FOVEA_WITH_ZLIB
    if (is_gzip_)
      unpack(content);
    else
#endif
        if (used_ < packed_.size() || fill())
      content += packed_, used_ = packed_.size();
    given_ += int64_t(content.size() - before);
    require(given_ <= limit_, ErrorKind::BadData, path_, ": holds more than ", format_count(limit_),
            " bytes, the limit for one file; split it or raise the limit");
    return content.size() > before;
  }

  std::string hash() const {
    return hash_.text();
  }
  const std::string& path() const {
    return path_;
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 20;

  /// The next bytes as they lie on disk. False: there are none.
  bool fill() {
    passed_ += packed_.size();
    used_ = 0;
    packed_.resize(kPiece);
    size_t filled = 0;
    while (const size_t count = file_.read(packed_.data() + filled, kPiece - filled))
      filled += count;
    packed_.resize(filled);
    hash_.add(packed_);
    return filled > 0;
  }

#ifdef FOVEA_WITH_ZLIB
  [[noreturn]] void damaged(const std::string& why) const {
    fail(ErrorKind::BadData, path_, ": damaged gzip file: ", why);
  }

  /// Adds nothing at the end of the last member.
  void unpack(std::string& content) {
    const size_t filled = content.size();
    while (content.size() == filled) {
      const bool more_output = stream_.next_out != nullptr && stream_.avail_out == 0;
      const bool no_input = used_ == packed_.size() && !fill();
      if (no_input && status_ == Z_STREAM_END) return;
      if (no_input && !more_output) damaged("it ends too early; was the copy cut short?");
      if (status_ == Z_STREAM_END) inflateReset(&stream_);  // the next member
      content.resize(filled + kPiece);
      stream_.next_in = reinterpret_cast<Bytef*>(packed_.data() + used_);
      stream_.avail_in = static_cast<uInt>(packed_.size() - used_);
      stream_.next_out = reinterpret_cast<Bytef*>(content.data() + filled);
      stream_.avail_out = static_cast<uInt>(kPiece);
      status_ = inflate(&stream_, Z_NO_FLUSH);
      content.resize(filled + kPiece - stream_.avail_out);
      used_ = packed_.size() - stream_.avail_in;
      if (status_ != Z_OK && status_ != Z_STREAM_END && status_ != Z_BUF_ERROR)
        damaged(concat(stream_.msg != nullptr ? stream_.msg : "unreadable", " near byte ",
                       passed_ + used_));
    }
  }
  z_stream stream_{};
  int status_ = Z_OK;
#endif

  std::string path_;
  InputFile file_;
  int64_t limit_, given_ = 0;
  ContentHash hash_;
  std::string packed_;  // of which `used_` bytes are unpacked, behind `passed_` others
  size_t used_ = 0, passed_ = 0;
  bool is_gzip_ = false;
};

ByteStream::ByteStream(const std::filesystem::path& path, int64_t limit, bool text)
    : pieces_(std::make_unique<Pieces>(path, limit)), text_(text) {}

ByteStream::~ByteStream() = default;

std::string ByteStream::hash() const {
  return pieces_->hash();
}

bool ByteStream::next(std::string& content) {
  if (!text_ || !std::exchange(first_, false)) return pieces_->next(content);
  std::string piece;
  if (!pieces_->next(piece)) return false;
  while (is_wide_text(piece) && pieces_->next(piece)) {
  }
  content += decode_text(std::move(piece), pieces_->path());
  return true;
}

FileBytes read_bytes(const std::filesystem::path& path, int64_t limit) {
  ByteStream stream(path, limit);
  FileBytes bytes;
  while (stream.next(bytes.content)) {
  }
  bytes.hash = stream.hash();
  return bytes;
}

FileBytes read_text(const std::filesystem::path& path, int64_t limit) {
  FileBytes bytes = read_bytes(path, limit);
  bytes.content = decode_text(std::move(bytes.content), path.string());
  return bytes;
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
