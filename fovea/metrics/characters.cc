#include "fovea/metrics/characters.h"

#include <algorithm>

#include "fovea/base/code_points.h"
#include "fovea/base/text.h"

namespace fovea {
namespace {

/// An invalid byte becomes a low surrogate, a number that no valid text holds.
constexpr int64_t kInvalidByte = 0xDC00;

bool within(int64_t character, int64_t first, int64_t last) {
  return character >= first && character <= last;
}

/// Where capitals and small letters alternate, the capital first.
bool alternates(int64_t character, int64_t first, int64_t last) {
  return within(character, first, last) && (character - first) % 2 == 0;
}

int64_t lowered_latin(int64_t c) {
  if (within(c, 0xC0, 0xDE)) return c == 0xD7 ? c : c + 32;  // U+00D7 is the multiplication sign
  if (c == 0x130) return 'i';
  if (c == 0x178) return 0xFF;
  const bool capital = alternates(c, 0x100, 0x136) || alternates(c, 0x139, 0x147) ||
                       alternates(c, 0x14A, 0x176) || alternates(c, 0x179, 0x17D);
  return capital ? c + 1 : c;
}

int64_t lowered_greek(int64_t c) {
  if (within(c, 0x391, 0x3AB)) return c == 0x3A2 ? c : c + 32;  // U+03A2 is no character
  if (c == 0x386) return 0x3AC;
  if (within(c, 0x388, 0x38A)) return c + 37;
  if (c == 0x38C) return 0x3CC;
  if (within(c, 0x38E, 0x38F)) return c + 63;
  return c;
}

int64_t lowered_cyrillic(int64_t c) {
  if (within(c, 0x400, 0x40F)) return c + 80;
  if (within(c, 0x410, 0x42F)) return c + 32;
  if (c == 0x4C0) return 0x4CF;
  const bool capital = alternates(c, 0x460, 0x480) || alternates(c, 0x48A, 0x4BE) ||
                       alternates(c, 0x4C1, 0x4CD) || alternates(c, 0x4D0, 0x52E);
  return capital ? c + 1 : c;
}

}  // namespace

Symbols code_points(std::string_view text) {
  Symbols characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    for (size_t at = 0; at < valid;) characters.push_back(next_code_point(text, at));
    if (valid < text.size())
      characters.push_back(kInvalidByte + static_cast<unsigned char>(text[valid]));
    text.remove_prefix(std::min(valid + 1, text.size()));
  }
  return characters;
}

std::string utf8(std::span<const int64_t> characters) {
  std::string text;
  for (const int64_t c : characters) {
    if (within(c, kInvalidByte, kInvalidByte + 0xFF))
      text += char(c - kInvalidByte);
    else
      append_code_point(char32_t(c), text);
  }
  return text;
}

bool is_white_space(int64_t c) {
  return within(c, 0x09, 0x0D) || within(c, 0x1C, 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         within(c, 0x2000, 0x200A) || within(c, 0x2028, 0x2029) || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

int64_t lowered(int64_t c) {
  if (c < 0x80) return within(c, 'A', 'Z') ? c + 32 : c;
  if (c < 0x180) return lowered_latin(c);
  if (within(c, 0x370, 0x3FF)) return lowered_greek(c);
  if (within(c, 0x400, 0x52F)) return lowered_cyrillic(c);
  return c;
}

std::vector<Symbols> split_words(std::span<const int64_t> characters) {
  std::vector<Symbols> words;
  bool inside = false;
  for (const int64_t character : characters) {
    const bool blank = is_white_space(character);
    if (!blank && !inside) words.emplace_back();
    if (!blank) words.back().push_back(character);
    inside = !blank;
  }
  return words;
}

}  // namespace fovea
