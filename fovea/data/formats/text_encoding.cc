#include "fovea/data/formats/text_encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"

namespace fovea {

namespace {

/// 0x80 to 0x9F; 0: no character.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

bool is_ascii_text(const std::string& text) {
  constexpr uint64_t kHighBits = 0x8080808080808080ull;
  size_t at = 0;
  for (uint64_t word; at + 8 <= text.size(); at += 8) {
    std::memcpy(&word, text.data() + at, 8);
    if (word & kHighBits) return false;
  }
  for (; at < text.size(); ++at)
    if (text[at] & 0x80) return false;
  return true;
}

/// Of characters below 0x10000.
void append_western(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += char(code);
  } else if (code < 0x800) {
    text += char(0xC0 | (code >> 6));
    text += char(0x80 | (code & 0x3F));
  } else {
    text += char(0xE0 | (code >> 12));
    text += char(0x80 | ((code >> 6) & 0x3F));
    text += char(0x80 | (code & 0x3F));
  }
}

/// Of bytes without a valid UTF-8 character beyond ASCII: those have another encoding.
bool may_be_windows_1252(const std::string& content, size_t valid) {
  const bool utf8_before = std::any_of(content.begin(), content.begin() + int64_t(valid),
                                       [](char c) { return (c & 0x80) != 0; });
  return !utf8_before && std::none_of(content.begin(), content.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 && byte < 0xA0 && kWindows1252[byte - 0x80] == 0;
  });
}

std::string from_windows_1252(const std::string& content) {
  std::string text;
  text.reserve(content.size() + content.size() / 8);
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    append_western(text, byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : byte);
  }
  return text;
}

/// "sep=;" tells Excel what parts the cells; the header tells us.
void drop_separator_line(std::string& content) {
  if (content.size() < 5 || !content.starts_with("sep=")) return;
  const size_t end = std::min(content.find_first_of("\r\n"), content.size());
  if (end == 5) content.erase(0, end);
}

}  // namespace

std::string decode_table_text(std::string content, const std::string& name,
                              std::vector<std::string>& notes) {
  content = decode_text(std::move(content), name);
  const auto place = [&](size_t at) {
    return concat(
        name, ":",
        1 + std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  };
  if (content.starts_with("\xEF\xBB\xBF")) content.erase(0, 3);
  const size_t nul = content.find('\0');
  if (nul != std::string::npos)
    fail(ErrorKind::BadData, place(nul), ": a zero byte (at offset ", nul,
         " of the file); a text file is needed");
  const size_t valid = is_ascii_text(content) ? content.size() : valid_utf8_prefix(content);
  if (valid < content.size()) {
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned char>(content[valid]));
    if (!may_be_windows_1252(content, valid))
      fail(ErrorKind::BadData, place(valid), ": byte ", byte, " (at offset ", valid,
           " of the file) is not valid UTF-8. Convert the file, for example: iconv -f ISO-8859-1 "
           "-t UTF-8 ",
           name);
    notes.push_back(concat(place(valid), ": byte ", byte,
                           " is not UTF-8; the file is read as Windows-1252 (Western European)"));
    content = from_windows_1252(content);
  }
  require(content.find('\r') == std::string::npos || content.find('\n') != std::string::npos,
          ErrorKind::BadData, name, ":1: its lines end in CR alone; convert it: tr '\\r' '\\n'");
  drop_separator_line(content);
  return content;
}

}  // namespace fovea
