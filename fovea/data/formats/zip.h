// The files inside a zip archive, stored or deflated. Sizes come from the directory at the end of
// the archive and are held against the archive's own size before anything is allocated. Encrypted,
// split and zip64 archives are refused; zip64 begins where files are larger than we read anyway.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

class ZipArchive {
 public:
  struct Entry {
    std::string name;
    uint32_t method = 0;  // 0 stored, 8 deflated
    uint32_t checksum = 0;
    uint64_t size = 0;        // unpacked
    std::string_view packed;  // inside the archive
  };

  /// Reads the directory. The archive's `bytes` must outlive this. BadData for a damaged archive,
  /// Unsupported for one of another sort; both name `where`.
  ZipArchive(std::string_view bytes, std::string where);

  /// In the order of the directory; no two have one name.
  const std::vector<Entry>& entries() const { return entries_; }

  /// The bytes of one file, of exactly the size and checksum that the directory promises.
  /// Unsupported for deflate when this build has no zlib.
  std::string unpack(const Entry& entry) const;

 private:
  struct Directory {
    uint64_t begin = 0, end = 0, count = 0;
  };
  Directory find_directory() const;
  Entry read_entry(uint64_t& at, const Directory& directory) const;
  std::string_view packed_bytes(const Entry& entry, uint64_t header, uint64_t size,
                                uint64_t limit) const;
  uint64_t number(uint64_t at, int width) const;  // little-endian
  template <class... Pieces>
  void check(bool condition, const Pieces&... pieces) const;

  std::string_view bytes_;
  std::string where_;
  std::vector<Entry> entries_;
};

}  // namespace fovea
