// A column whose header cell is empty: a saved row index, a column too many.
#pragma once

#include <cstdint>
#include <string>

namespace fovea {

/// Its name, as pandas has it: "Unnamed: 0".
inline std::string unnamed_column(int64_t column) {
  return "Unnamed: " + std::to_string(column);
}

}  // namespace fovea
