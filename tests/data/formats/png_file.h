// PNG files of every sort for tests, made byte by byte: signature, chunks with their checksums, and
// pixels that are stored rather than packed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fovea::testing {

inline std::string big_endian(uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

inline uint32_t crc_of(const std::string& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

inline std::string png_chunk(const std::string& type, const std::string& data) {
  return big_endian(uint32_t(data.size())) + type + data + big_endian(crc_of(type + data));
}

/// A zlib stream of stored blocks.
inline std::string stored(const std::string& data) {
  std::string stream = "\x78\x01";
  constexpr size_t kMost = 65535;
  for (size_t at = 0; at == 0 || at < data.size(); at += kMost) {
    const std::string block = data.substr(at, kMost);
    const auto size = uint16_t(block.size()), other = uint16_t(~size);
    stream += char(at + kMost >= data.size());
    stream += {char(size & 255), char(size >> 8), char(other & 255), char(other >> 8)};
    stream += block;
  }
  uint32_t a = 1, b = 0;  // Adler-32
  for (const char byte : data) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return stream + big_endian(b << 16 | a);
}

struct PngFile {
  uint32_t width = 1, height = 1;
  int depth = 8;
  int colour = 2;  // 0 grey, 2 colours, 3 palette, 4 grey and alpha, 6 colours and alpha
  bool interlaced = false;
  std::string before_pixels = "";  // chunks
  std::string pixels = "";         // rows as they stand in the file, each after its filter byte 0

  std::string bytes() const {
    const std::string head = big_endian(width) + big_endian(height) + char(depth) + char(colour) +
                             std::string(2, '\0') + char(interlaced);
    return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", head) + before_pixels +
           png_chunk("IDAT", stored(pixels)) + png_chunk("IEND", "");
  }
};

/// Rows of `width` pixels with `size` bytes each, every one after a filter byte.
inline std::string rows_of(const std::string& pixels, size_t row_bytes) {
  std::string rows;
  for (size_t at = 0; at < pixels.size(); at += row_bytes)
    rows += '\0' + pixels.substr(at, row_bytes);
  return rows;
}

/// The seven passes of Adam7 over pixels [height, width] of `size` bytes.
inline std::string interlaced_rows(const std::string& pixels, size_t width, size_t height,
                                   size_t size) {
  struct Pass {
    size_t x, y, step_x, step_y;
  };
  constexpr std::array<Pass, 7> kPasses{{{0, 0, 8, 8},
                                         {4, 0, 8, 8},
                                         {0, 4, 4, 8},
                                         {2, 0, 4, 4},
                                         {0, 2, 2, 4},
                                         {1, 0, 2, 2},
                                         {0, 1, 1, 2}}};
  std::string rows;
  for (const Pass& pass : kPasses) {
    if (pass.x >= width) continue;
    for (size_t y = pass.y; y < height; y += pass.step_y) {
      rows += '\0';
      for (size_t x = pass.x; x < width; x += pass.step_x)
        rows += pixels.substr((y * width + x) * size, size);
    }
  }
  return rows;
}

}  // namespace fovea::testing
