// The idx format of MNIST and its relatives, plain or gzip: two zero bytes, a byte for the type of
// the numbers, one for how many dimensions there are, the size of each as a big-endian 32-bit
// number, then the numbers, big-endian, the last dimension fastest. docs/formats/idx.md lists the
// types, the limits and what is refused.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace fovea {

inline constexpr int64_t kIdxByteLimit = int64_t{1} << 32;  // of the numbers of one file

struct IdxFile {
  at::Tensor values;
  std::string hash;  // ContentHash of the bytes as they lie on disk
};

/// NotFound, Io; BadData names the path and what was found.
IdxFile read_idx(const std::filesystem::path& path);

/// The same of a file's bytes, unpacked; `where` names them in an error.
at::Tensor parse_idx(std::string_view bytes, const std::string& where);

/// The tensor as a plain idx file: bytes and int32 are enough for pictures and labels.
std::string idx_bytes(const at::Tensor& values);

}  // namespace fovea
