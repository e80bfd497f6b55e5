// The safetensors format: 8 bytes little-endian header length N, N bytes of JSON
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {"key":
//   "text"}}
// then the tensors' bytes, little-endian, row-major, without holes. Every number of the header is
// checked before it is used, and what was checked stays as it was: the bytes are the reader's own,
// whatever happens to the file, unless it is mapped.
// docs/formats/safetensors.md lists what is refused.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace fovea {

struct SafetensorsFile {
  std::map<std::string, at::Tensor>
      tensors;  // views into one copy of the file, which lives as long as one of them
  std::map<std::string, std::string> metadata;
};

/// Files up to half of the machine's memory.
uint64_t usual_memory_limit();

/// BadData for a malformed file, Unsupported for a dtype that LibTorch does not have. A file of
/// more than `memory_limit` bytes goes into a nameless file beside it, which the system keeps in
/// memory as far as there is room.
SafetensorsFile read_safetensors(const std::filesystem::path& path,
                                 uint64_t memory_limit = usual_memory_limit());

/// The same without a copy: the tensors are views of the file, read-only, which the system reads
/// page by page as they are used. For large weights that nobody changes: a file that is written to
/// later changes them, and one that is cut short later ends the program.
SafetensorsFile map_safetensors(const std::filesystem::path& path);

/// The pages of such a view need no memory until they are read again. Of other tensors nothing
/// happens.
void forget_pages(const at::Tensor& view);

/// The metadata alone.
std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path);

/// Writes atomically, tensors sorted by alignment then name. Any device, any strides.
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, at::Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace fovea
