// Texts as code points, which spans count in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

/// Code points of valid UTF-8.
inline int64_t count_code_points(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; });
}

/// Bytes of the code point that begins with `lead`, in valid UTF-8.
inline size_t code_point_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The code point at byte `at` of valid UTF-8; `at` moves behind it.
inline char32_t next_code_point(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = code_point_size(text[at]);
  char32_t code = size == 1 ? byte(at) : byte(at) & (0x7F >> size);
  for (size_t i = 1; i < size; ++i) code = code << 6 | (byte(at + i) & 0x3F);
  at += size;
  return code;
}

inline void append_code_point(char32_t code, std::string& text) {
  if (code < 0x80) {
    text.push_back(char(code));
    return;
  }
  const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  constexpr unsigned kLeads[] = {0, 0xC0, 0xE0, 0xF0};
  text.push_back(char(kLeads[tail] | code >> (6 * tail)));
  for (int i = tail - 1; i >= 0; --i) text.push_back(char(0x80 | (code >> (6 * i) & 0x3F)));
}

}  // namespace fovea
