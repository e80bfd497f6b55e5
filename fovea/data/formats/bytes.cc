#include "fovea/data/formats/bytes.h"

#ifdef FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/formats/foreign.h"

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

/// An encoding with more than a byte a character, by the mark that files of it begin with.
struct WideEncoding {
  std::string_view mark;
  const char* name;
  size_t width;  // bytes of a code unit
  bool little_endian;
};

using std::string_view_literals::operator""sv;

constexpr WideEncoding kWideEncodings[] = {{"\xFF\xFE\0\0"sv, "UTF-32", 4, true},
                                           {"\0\0\xFE\xFF"sv, "UTF-32", 4, false},
                                           {"\xFF\xFE"sv, "UTF-16", 2, true},
                                           {"\xFE\xFF"sv, "UTF-16", 2, false}};

void append_code_point(std::string& text, uint32_t point) {
  const auto tail = [&](int shift) { text += char(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    text += char(point);
  } else if (point < 0x800) {
    text += char(0xC0 | point >> 6), tail(0);
  } else if (point < 0x10000) {
    text += char(0xE0 | point >> 12), tail(6), tail(0);
  } else {
    text += char(0xF0 | point >> 18), tail(12), tail(6), tail(0);
  }
}

/// Without the mark. BadData, with the line, for what is no character.
std::string decode_wide(std::string_view content, const WideEncoding& encoding,
                        const std::string& name) {
  std::string text;
  const auto check = [&](bool fits) {
    require(fits, ErrorKind::BadData, name, ":", 1 + std::count(text.begin(), text.end(), '\n'),
            ": damaged ", encoding.name, "; was the copy cut short? UTF-8 is read too: iconv -f ",
            encoding.name, " -t UTF-8 ", name);
  };
  size_t at = encoding.mark.size();
  const auto next_unit = [&] {
    check(at + encoding.width <= content.size());
    uint32_t unit = 0;
    for (size_t i = 0; i < encoding.width; ++i) {
      const size_t byte = encoding.little_endian ? encoding.width - 1 - i : i;
      unit = unit << 8 | static_cast<unsigned char>(content[at + byte]);
    }
    at += encoding.width;
    return unit;
  };
  const auto is_surrogate = [](uint32_t unit) { return unit >= 0xD800 && unit < 0xE000; };
  while (at < content.size()) {
    uint32_t point = next_unit();
    if (encoding.width == 2 && is_surrogate(point)) {
      check(point < 0xDC00);  // a high one comes first
      const uint32_t low = next_unit();
      check(low >= 0xDC00 && low < 0xE000);
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    check(point < 0x110000 && !is_surrogate(point));
    append_code_point(text, point);
  }
  return text;
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

std::string decode_text(std::string content, const std::string& name) {
  refuse_foreign(content, name);
  for (const WideEncoding& encoding : kWideEncodings)
    if (content.starts_with(encoding.mark)) return decode_wide(content, encoding, name);
  return content;
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
