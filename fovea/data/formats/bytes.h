// A file's content, unpacked when it is gzip (RFC 1952, several members one after the other
// allowed).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace fovea {

struct FileBytes {
  std::string content;  // unpacked
  std::string hash;     // ContentHash of the bytes as they lie on disk
};

/// A file's content piece by piece, so that a file of any size can be read. Errors are those of
/// read_bytes(); where the bytes should be text also those of decode_text()
/// (text_encoding.h).
class ByteStream {
 public:
  ByteStream(const std::filesystem::path& path, int64_t limit, bool text = false);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Adds some more bytes, about a MiB of them, at the end of `content`. False: there are none.
  /// Text in UTF-16 or UTF-32 comes in one piece.
  bool next(std::string& content);
  std::string hash() const;  // as in FileBytes, once there are no more bytes

 private:
  class Pieces;
  std::unique_ptr<Pieces> pieces_;
  bool text_, first_ = true;
};

/// Reads `path`; gzip is recognised by its first two bytes. Refuses what unpacks to more than
/// `limit` bytes. BadData for a damaged archive, Unsupported when this build has no zlib.
FileBytes read_bytes(const std::filesystem::path& path, int64_t limit);

/// read_bytes() and decode_text().
FileBytes read_text(const std::filesystem::path& path, int64_t limit);

/// A picture's or a sound's bytes as they are. NotFound; BadData for what is no regular file, or
/// has more than `largest` bytes.
std::string read_small_file(const std::filesystem::path& path, int64_t largest);

}  // namespace fovea
