// The safetensors format: 8 bytes little-endian header length N, N bytes of JSON
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {"key":
//   "text"}}
// then the tensors' bytes, little-endian, row-major, without holes. Reading maps the file into
// memory; every number of the header is checked before anything is allocated or touched.
// docs/formats/safetensors.md lists what is refused.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace fovea {

struct SafetensorsFile {
  std::map<std::string, at::Tensor>
      tensors;  // views into the mapped file, private to this process: copy before writing
  std::map<std::string, std::string> metadata;
};

/// BadData for a malformed file, Unsupported for a dtype that LibTorch does not have.
SafetensorsFile read_safetensors(const std::filesystem::path& path);

/// Writes atomically, tensors sorted by alignment then name. Any device, any strides.
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, at::Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace fovea
