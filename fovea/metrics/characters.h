// Characters as the text metrics see them: code points, one number each. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/metrics/sequences.h"

namespace fovea {

/// The white space of Unicode, with the four ASCII separators U+001C ... U+001F.
bool is_white_space(int64_t character);

/// The small letter of an ASCII, Latin-1, Latin Extended-A, Greek or Cyrillic capital; any other
/// character as it is. One for one: a final sigma stays σ, and İ becomes a plain i.
int64_t lowered(int64_t character);

/// The inverse of code_points(), invalid bytes included.
std::string utf8(std::span<const int64_t> characters);

/// The stretches between white space.
std::vector<Symbols> split_words(std::span<const int64_t> characters);

}  // namespace fovea
