// NumPy's .npy format, versions 1 to 3: "\x93NUMPY", two version bytes, the length of the header
// (two bytes; four from version 2 on), a Python dictionary
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// padded with blanks, then the numbers. Nothing is executed: arrays of Python objects are refused.
// docs/formats/weights.md lists the dtypes and what else is refused.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

inline constexpr int64_t kNumpyElementLimit = int64_t{1} << 27;  // of one file

/// The array as a tensor of its own, row-major. `bytes` must end with its last number. BadData for
/// a malformed array, Unsupported for a dtype that a tensor cannot have; both name `where`.
at::Tensor parse_npy(std::string_view bytes, const std::string& where);

/// Whether `bytes` begin as a .npy file does.
bool is_npy(std::string_view bytes);

}  // namespace fovea
