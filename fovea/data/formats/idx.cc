#include "fovea/data/formats/idx.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"

namespace fovea {

namespace {

constexpr size_t kMagicBytes = 4, kSizeBytes = 4;
constexpr size_t kMostDimensions = 8;

struct IdxType {
  int code;
  at::ScalarType type;
};

constexpr IdxType kTypes[] = {{0x08, at::kByte}, {0x09, at::kChar},  {0x0B, at::kShort},
                              {0x0C, at::kInt},  {0x0D, at::kFloat}, {0x0E, at::kDouble}};

int byte_at(std::string_view bytes, size_t place) {
  return static_cast<unsigned char>(bytes[place]);
}

at::ScalarType type_of(std::string_view bytes, const std::string& where) {
  require(bytes.size() >= kMagicBytes, ErrorKind::BadData, where, ": has ", bytes.size(),
          " bytes, too few for an idx file (is it truncated?)");
  require(byte_at(bytes, 0) == 0 && byte_at(bytes, 1) == 0, ErrorKind::BadData, where,
          ": does not begin with two zero bytes as an idx file does; found ", byte_at(bytes, 0),
          " and ", byte_at(bytes, 1));
  const int code = byte_at(bytes, 2);
  const auto found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const IdxType& type) { return type.code == code; });
  require(found != std::end(kTypes), ErrorKind::BadData, where, ": has numbers of the idx type ",
          code, "; known are 8 (unsigned bytes), 9, 11, 12, 13 and 14");
  return found->type;
}

/// The sizes, refused before anything is allocated where they are more than a file may hold.
std::vector<int64_t> shape_of(std::string_view bytes, int64_t width, const std::string& where) {
  const auto dimensions = size_t(byte_at(bytes, 3));
  require(dimensions >= 1 && dimensions <= kMostDimensions, ErrorKind::BadData, where, ": has ",
          dimensions, " dimensions; 1 to ", kMostDimensions, " are possible");
  require(bytes.size() >= kMagicBytes + dimensions * kSizeBytes, ErrorKind::BadData, where,
          ": ends inside its header (is it truncated?)");
  std::vector<int64_t> shape;
  int64_t extent = width;  // bytes, with every size of 0 taken as 1: strides must not overflow
  for (size_t i = 0; i < dimensions; ++i) {
    int64_t size = 0;
    for (size_t b = 0; b < kSizeBytes; ++b)
      size = size << 8 | byte_at(bytes, kMagicBytes + i * kSizeBytes + b);
    shape.push_back(size);
    const int64_t factor = std::max<int64_t>(size, 1);
    require(factor <= kIdxByteLimit / extent, ErrorKind::BadData, where, ": claims more than the ",
            format_count(kIdxByteLimit), " bytes that a file may hold");
    extent *= factor;
  }
  return shape;
}

/// Between the order of the file and that of this machine.
void swap_bytes(char* bytes, int64_t count, int64_t width) {
  if (std::endian::native == std::endian::big || width == 1) return;
  for (int64_t i = 0; i < count; ++i) std::reverse(bytes + i * width, bytes + (i + 1) * width);
}

}  // namespace

at::Tensor parse_idx(std::string_view bytes, const std::string& where) {
  const at::ScalarType type = type_of(bytes, where);
  const auto width = int64_t(c10::elementSize(type));
  const std::vector<int64_t> shape = shape_of(bytes, width, where);
  const std::string_view data = bytes.substr(kMagicBytes + shape.size() * kSizeBytes);
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  require(int64_t(data.size()) == count * width, ErrorKind::BadData, where, ": its header says ",
          at::IntArrayRef(shape), ", which is ", format_count(count * width), " bytes, found ",
          format_count(int64_t(data.size())),
          int64_t(data.size()) < count * width ? " (is it truncated?)" : "");
  at::Tensor values = at::empty(shape, type);
  if (count == 0) return values;
  std::memcpy(values.data_ptr(), data.data(), data.size());
  swap_bytes(static_cast<char*>(values.data_ptr()), count, width);
  return values;
}

IdxFile read_idx(const std::filesystem::path& path) {
  constexpr int64_t kMostHeader = int64_t(kMagicBytes + kMostDimensions * kSizeBytes);
  const FileBytes file = read_bytes(path, kIdxByteLimit + kMostHeader);
  return {parse_idx(file.content, path.string()), file.hash};
}

std::string idx_bytes(const at::Tensor& values) {
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const IdxType& known) {
    return known.type == values.scalar_type();
  });
  require(type != std::end(kTypes), ErrorKind::Internal, "idx files have no numbers of the type ",
          values.scalar_type());
  std::string bytes{'\0', '\0', char(type->code), char(values.dim())};
  for (const int64_t size : values.sizes())
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(char(size >> shift & 0xff));
  const at::Tensor plain = values.contiguous();
  const size_t header = bytes.size();
  bytes.append(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
  swap_bytes(bytes.data() + header, plain.numel(), int64_t(plain.element_size()));
  return bytes;
}

}  // namespace fovea
