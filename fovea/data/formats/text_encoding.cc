#include "fovea/data/formats/text_encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"

namespace fovea {

namespace {

/// 0x80 to 0x9F; 0: no character.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

bool is_ascii_text(std::string_view text) {
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

/// "sep=;" tells Excel what parts the cells; the header tells us.
std::string_view without_separator_line(std::string_view content) {
  if (content.size() < 5 || !content.starts_with("sep=")) return content;
  const size_t end = std::min(content.find_first_of("\r\n"), content.size());
  return end == 5 ? content.substr(end) : content;
}

}  // namespace

std::string TableDecoder::place(std::string_view before) const {
  return concat(name_, ":", 1 + lines_ + std::count(before.begin(), before.end(), '\n'));
}

void TableDecoder::append_windows_1252(std::string_view bytes, std::string& text) const {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool special = byte >= 0x80 && byte < 0xA0;
    if (special && kWindows1252[byte - 0x80] == 0) fail(ErrorKind::BadData, problem_);
    append_code_point(special ? kWindows1252[byte - 0x80] : byte, text);
  }
}

void TableDecoder::decode(std::string_view bytes, bool last, std::string& text) {
  if (encoding_ == kWindows) return append_windows_1252(bytes, text);
  const size_t valid = is_ascii_text(bytes) ? bytes.size() : valid_utf8_prefix(bytes);
  const std::string_view good = bytes.substr(0, valid);
  if (!is_ascii_text(good)) encoding_ = kUtf8;
  if (valid == bytes.size()) {
    text += good;
    return;
  }
  constexpr size_t kLongestCharacter = 4;  // bytes
  if (!last && bytes.size() - valid < kLongestCharacter) {
    text += good;
    waiting_ = bytes.substr(valid);
    return;
  }
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned char>(bytes[valid]));
  problem_ = concat(place(good), ": byte ", byte, " (at offset ", offset_ + valid,
                    " of the file) is not valid UTF-8. Convert the file, for example: iconv -f "
                    "ISO-8859-1 -t UTF-8 ",
                    name_);
  require(encoding_ == kAscii, ErrorKind::BadData, problem_);
  encoding_ = kWindows;
  append_windows_1252(bytes, text);
  notes_.push_back(concat(place(good), ": byte ", byte,
                          " is not UTF-8; the file is read as Windows-1252 (Western European)"));
}

void TableDecoder::add(std::string_view bytes, bool last, std::string& text) {
  if (std::exchange(first_, false)) {
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    const std::string_view table = without_separator_line(bytes);
    offset_ = bytes.size() - table.size();
    bytes = table;
  }
  std::string joined = std::exchange(waiting_, "");
  if (!joined.empty()) bytes = joined += bytes;
  const size_t nul = bytes.find('\0');
  if (nul != std::string_view::npos)
    fail(ErrorKind::BadData, place(bytes.substr(0, nul)), ": a zero byte (at offset ",
         offset_ + nul, " of the file); a text file is needed");
  decode(bytes, last, text);
  bytes.remove_suffix(waiting_.size());
  offset_ += bytes.size();
  lines_ += std::count(bytes.begin(), bytes.end(), '\n');
  line_feeds_ = line_feeds_ || lines_ > 0;
  carriage_returns_ = carriage_returns_ || bytes.find('\r') != std::string_view::npos;
  require(!last || line_feeds_ || !carriage_returns_, ErrorKind::BadData, name_,
          ":1: its lines end in CR alone; convert it: tr '\\r' '\\n'");
}

std::string decode_table_text(std::string content, const std::string& name,
                              std::vector<std::string>& notes) {
  std::string text;
  TableDecoder(name, notes).add(decode_text(std::move(content), name), true, text);
  return text;
}

}  // namespace fovea
