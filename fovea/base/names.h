// What names say: endings of files, and letters without case.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fovea {

/// With a to z for A to Z; other letters stay.
inline std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = char(letter - 'A' + 'a');
  return lower;
}

inline std::filesystem::path without_gz(const std::filesystem::path& path) {
  return path.extension() == ".gz" ? std::filesystem::path(path).replace_extension() : path;
}

/// ".csv" of table.csv and of table.csv.gz.
inline std::string plain_ending(const std::filesystem::path& path) {
  return without_gz(path).extension().string();
}

/// ".png" of picture.PNG.
inline std::string small_ending(const std::filesystem::path& path) {
  return lower_ascii(path.extension().string());
}

}  // namespace fovea
