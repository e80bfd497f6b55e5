// What tests look for in pictures and texts, and a terminal without colours.
#pragma once

#include <string>

#include "fovea/explain/draw/terminal.h"

namespace fovea {

inline size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline TerminalOptions plain(int width, bool unicode = true) {
  TerminalOptions options;
  options.width = width;
  options.colour = false;
  options.unicode = unicode;
  return options;
}

}  // namespace fovea
