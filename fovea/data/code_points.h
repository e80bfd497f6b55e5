// Texts counted in code points, as spans do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace fovea {

/// Code points of valid UTF-8.
inline int64_t count_code_points(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; });
}

}  // namespace fovea
