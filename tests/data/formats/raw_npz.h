// .npy and .npz files byte by byte, for files that no library would write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

/// `value` in `width` bytes, little-endian.
inline std::string little(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

inline std::string make_raw_npy(const std::string& header, const std::string& data,
                                int version = 1) {
  return "\x93NUMPY" + little(static_cast<uint64_t>(version), 1) + little(0, 1) +
         little(header.size(), version == 1 ? 2 : 4) + header + data;
}

/// Version 1 with a header as NumPy writes it.
inline std::string make_npy(const std::string& dtype, const std::string& shape,
                            const std::string& data, const std::string& columns_first = "False") {
  return make_raw_npy("{'descr': '" + dtype + "', 'fortran_order': " + columns_first +
                          ", 'shape': " + shape + ", }   \n",
                      data);
}

inline uint32_t slow_checksum(const std::string& bytes) {
  uint32_t sum = ~uint32_t{0};
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
  }
  return ~sum;
}

struct RawFile {
  std::string name = "", bytes = "";
  uint64_t method = 0, flags = 0;
  int64_t more_size = 0;        // added to the unpacked size that the directory claims
  int64_t more_packed = 0;      // the same for the packed size
  int64_t shift = 0;            // the same for where the file begins
  std::string local_name = "";  // what the file is called where it begins; "" for the same
  uint32_t checksum_error = 0;  // added
};

/// A zip archive of files whose `bytes` are already packed as `method` says.
inline std::string make_zip(const std::vector<RawFile>& files, const std::string& comment = "") {
  std::string archive, directory;
  for (const RawFile& file : files) {
    const std::string sizes =
        little(slow_checksum(file.bytes) + file.checksum_error, 4) +
        little(file.bytes.size() + static_cast<uint64_t>(file.more_packed), 4) +
        little(file.bytes.size() + static_cast<uint64_t>(file.more_size), 4);
    const std::string head =
        little(20, 2) + little(file.flags, 2) + little(file.method, 2) + little(0, 4) + sizes;
    const std::string local = file.local_name.empty() ? file.name : file.local_name;
    directory += little(0x02014b50, 4) + little(20, 2) + head + little(file.name.size(), 2) +
                 little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                 little(archive.size() + static_cast<uint64_t>(file.shift), 4) + file.name;
    archive +=
        little(0x04034b50, 4) + head + little(local.size(), 2) + little(0, 2) + local + file.bytes;
  }
  return archive + directory + little(0x06054b50, 4) + little(0, 4) + little(files.size(), 2) +
         little(files.size(), 2) + little(directory.size(), 4) + little(archive.size(), 4) +
         little(comment.size(), 2) + comment;
}

/// One array "a" in a stored archive.
inline std::string make_npz(const std::string& npy) {
  return make_zip({{"a.npy", npy}});
}

}  // namespace fovea
