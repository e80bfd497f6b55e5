// NumPy's .npz format: a zip archive of .npy files, as numpy.savez and numpy.savez_compressed write
// it.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace fovea {

/// The arrays by name, at most kNumpyElementLimit numbers in all. A single .npy file is read too,
/// under its own name. Errors as in parse_npy, with the path and the array's name.
std::map<std::string, at::Tensor> read_npz(const std::filesystem::path& path);

/// The same from the bytes of an archive; `where` names it in an error.
std::map<std::string, at::Tensor> parse_npz(std::string_view bytes, const std::string& where);

}  // namespace fovea
