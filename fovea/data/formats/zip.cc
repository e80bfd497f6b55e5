#include "fovea/data/formats/zip.h"

#ifdef FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <array>
#include <set>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr uint64_t kEndSize = 22, kEntrySize = 46, kHeaderSize = 30, kLocatorSize = 20;
constexpr uint64_t kCommentLimit = 65535;
constexpr uint64_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kHeaderMark = 0x04034b50,
                   kZip64Mark = 0x07064b50;
constexpr uint64_t kStored = 0, kDeflated = 8;
constexpr uint64_t kZip64Size = 0xFFFFFFFF, kZip64Count = 0xFFFF;
constexpr uint64_t kDeflateRatio = 1032;  // one bit cannot stand for more: 258 bytes in two bits

/// The checksum of zip (CRC-32, reflected polynomial 0xEDB88320), eight bytes at a time.
using ChecksumTables = std::array<std::array<uint32_t, 256>, 8>;
constexpr ChecksumTables make_checksum_tables() {
  ChecksumTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
    tables[0][byte] = value;
  }
  for (size_t step = 1; step < 8; ++step)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[step - 1][byte];
      tables[step][byte] = before >> 8 ^ tables[0][before & 255];
    }
  return tables;
}
constexpr ChecksumTables kChecksums = make_checksum_tables();

uint32_t checksum_of(std::string_view bytes) {
  uint32_t sum = ~uint32_t{0};
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* end = at + bytes.size();
  for (; end - at >= 8; at += 8) {
    const uint32_t low = sum ^ (uint32_t{at[0]} | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16 |
                                uint32_t{at[3]} << 24);
    sum = kChecksums[7][low & 255] ^ kChecksums[6][low >> 8 & 255] ^
          kChecksums[5][low >> 16 & 255] ^ kChecksums[4][low >> 24] ^ kChecksums[3][at[4]] ^
          kChecksums[2][at[5]] ^ kChecksums[1][at[6]] ^ kChecksums[0][at[7]];
  }
  for (; at != end; ++at) sum = sum >> 8 ^ kChecksums[0][(sum ^ *at) & 255];
  return ~sum;
}

#ifdef FOVEA_WITH_ZLIB

/// Whether the raw deflate stream fills exactly `content` and ends with its own last byte.
bool inflate_exactly(std::string_view packed, std::string& content) {
  z_stream stream{};
  constexpr int kRawDeflate = -15;
  require(inflateInit2(&stream, kRawDeflate) == Z_OK, ErrorKind::Internal, "zlib did not start");
  // Directory sizes are below 2^32, so they fit zlib's counters.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  Bytef none = 0;
  stream.next_out = content.empty() ? &none : reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool exact = status == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
  inflateEnd(&stream);
  return exact;
}

#endif

}  // namespace

template <class... Pieces>
void ZipArchive::check(bool condition, const Pieces&... pieces) const {
  if (!condition) [[unlikely]]
    fail(ErrorKind::BadData, where_, ": damaged zip archive: ", pieces...);
}

uint64_t ZipArchive::number(uint64_t at, int width) const {
  uint64_t value = 0;
  for (int i = width - 1; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes_[at + static_cast<uint64_t>(i)]);
  return value;
}

ZipArchive::ZipArchive(std::string_view bytes, std::string where)
    : bytes_(bytes), where_(std::move(where)) {
  const Directory directory = find_directory();
  std::set<std::string> names;
  uint64_t at = directory.begin;
  for (uint64_t i = 0; i < directory.count; ++i) {
    entries_.push_back(read_entry(at, directory));
    check(names.insert(entries_.back().name).second, "two files are called '", entries_.back().name,
          "'");
  }
  check(at == directory.end, "its directory has ", directory.end - at,
        " bytes more than its files need");
}

ZipArchive::Directory ZipArchive::find_directory() const {
  const uint64_t size = bytes_.size();
  check(size >= kEndSize, "it has ", size, " bytes, the shortest archive has ", kEndSize);
  const uint64_t first = size - std::min(size, kEndSize + kCommentLimit);
  for (uint64_t end = size - kEndSize + 1; end-- > first;) {
    if (number(end, 4) != kEndMark || number(end + 20, 2) != size - end - kEndSize) continue;
    const uint64_t count = number(end + 10, 2), length = number(end + 12, 4);
    const uint64_t begin = number(end + 16, 4);
    const bool zip64 = count == kZip64Count || length == kZip64Size || begin == kZip64Size ||
                       (end >= kLocatorSize && number(end - kLocatorSize, 4) == kZip64Mark);
    require(!zip64, ErrorKind::Unsupported, where_,
            ": is a zip64 archive (more than 4 GiB or 65,535 files); save fewer arrays in it");
    require(number(end + 4, 4) == 0 && number(end + 8, 2) == count, ErrorKind::Unsupported, where_,
            ": is one part of an archive that was split");
    check(begin <= end && length == end - begin, "its directory of ", length,
          " bytes should begin at byte ", begin, " and end at byte ", end);
    return {begin, end, count};
  }
  fail(ErrorKind::BadData, where_,
       ": damaged zip archive: it does not end with a directory (is it truncated?)");
}

ZipArchive::Entry ZipArchive::read_entry(uint64_t& at, const Directory& directory) const {
  check(directory.end - at >= kEntrySize && number(at, 4) == kEntryMark,
        "its directory has no entry at byte ", at);
  Entry entry;
  const uint64_t flags = number(at + 8, 2), packed_size = number(at + 20, 4);
  const uint64_t name_size = number(at + 28, 2), header = number(at + 42, 4);
  const uint64_t rest = name_size + number(at + 30, 2) + number(at + 32, 2);
  check(rest <= directory.end - at - kEntrySize, "an entry leaves its directory");
  entry.name = std::string(bytes_.substr(at + kEntrySize, name_size));
  entry.method = static_cast<uint32_t>(number(at + 10, 2));
  entry.checksum = static_cast<uint32_t>(number(at + 16, 4));
  entry.size = number(at + 24, 4);
  require((flags & 1) == 0, ErrorKind::Unsupported, where_, ": '", entry.name, "' is encrypted");
  require(entry.method == kStored || entry.method == kDeflated, ErrorKind::Unsupported, where_,
          ": '", entry.name, "' is packed by method ", entry.method,
          "; stored (0) and deflate (8) can be read");
  require(entry.size != kZip64Size && packed_size != kZip64Size && header != kZip64Size,
          ErrorKind::Unsupported, where_, ": '", entry.name, "' has zip64 sizes (over 4 GiB)");
  entry.packed = packed_bytes(entry, header, packed_size, directory.begin);
  at += kEntrySize + rest;
  return entry;
}

std::string_view ZipArchive::packed_bytes(const Entry& entry, uint64_t header, uint64_t size,
                                          uint64_t limit) const {
  check(header <= limit && limit - header >= kHeaderSize && number(header, 4) == kHeaderMark, "'",
        entry.name, "' should begin at byte ", header, ", where no file begins");
  const uint64_t name_size = number(header + 26, 2);
  const uint64_t begin = header + kHeaderSize + name_size + number(header + 28, 2);
  check(begin <= limit && size <= limit - begin, "'", entry.name, "' needs ", size,
        " bytes from byte ", begin, " on, its directory begins at byte ", limit);
  check(bytes_.substr(header + kHeaderSize, name_size) == entry.name, "'", entry.name,
        "' has another name where it begins");
  check(entry.method == kStored ? entry.size == size : entry.size / kDeflateRatio <= size, "'",
        entry.name, "' of ", entry.size, " bytes cannot be packed in ", size);
  return bytes_.substr(begin, size);
}

std::string ZipArchive::unpack(const Entry& entry) const {
  std::string content;
  if (entry.method == kStored) {
    content = entry.packed;
  } else {
#ifdef FOVEA_WITH_ZLIB
    content.resize(entry.size);
    check(inflate_exactly(entry.packed, content), "'", entry.name, "' does not unpack to ",
          entry.size, " bytes");
#else
    fail(ErrorKind::Unsupported, where_, ": '", entry.name,
         "' is compressed and this build has no zlib; save it uncompressed (numpy.savez) or build "
         "with FOVEA_WITH_ZLIB=ON");
#endif
  }
  check(checksum_of(content) == entry.checksum, "'", entry.name, "' has another checksum");
  return content;
}

}  // namespace fovea
