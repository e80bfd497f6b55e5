#include "fovea/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "fovea/base/names.h"

namespace fovea {

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) joined += separator;
    joined += pieces[i];
  }
  return joined;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    pieces.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return pieces;
    start = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  const char* blanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr size_t kLongestWord = 256;  // longer ones are no slips, and distances take long
  if (word.size() > kLongestWord) return "";
  std::string best;
  // Names of one or two letters are all alike.
  size_t best_distance = std::min(word.size(), std::max<size_t>(2, word.size() / 2) + 1);
  const std::string lower = lower_ascii(word);
  const std::string_view tail = word.substr(word.rfind('.') + 1);
  for (const std::string& candidate : candidates) {
    size_t distance = edit_distance(lower, lower_ascii(candidate));
    // "layers" is meant as "model.layers"
    if (std::string_view(candidate).substr(candidate.rfind('.') + 1) == tail)
      distance = std::min<size_t>(distance, 1);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : concat(" (did you mean '", near, "'?)");
}

std::string format_number(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  return buffer;
}

namespace {

template <class Number>
std::string shortest(Number value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

}  // namespace

std::string format_exact(double value) {
  return shortest(value);
}
std::string format_exact(float value) {
  return shortest(value);
}

std::string format_duration(double seconds) {
  char buffer[64];
  const auto whole = static_cast<int64_t>(std::llround(std::max(0.0, std::min(seconds, 1e15))));
  if (seconds < 59.95) {  // from there on it would read "60.0 s"
    std::snprintf(buffer, sizeof buffer, "%.1f s", seconds);
  } else if (whole < 3600) {
    std::snprintf(buffer, sizeof buffer, "%d min %02d s", int(whole / 60), int(whole % 60));
  } else {
    std::snprintf(buffer, sizeof buffer, "%lld h %02d min", static_cast<long long>(whole / 3600),
                  int(whole / 60 % 60));
  }
  return buffer;
}

std::string format_count(int64_t count) {
  std::string digits = std::to_string(count);
  const int first = digits[0] == '-' ? 1 : 0;
  for (int at = int(digits.size()) - 3; at > first; at -= 3) digits.insert(at, ",");
  return digits;
}

namespace {

/// Without a leading plus, which from_chars does not know; "+-5" stays as it is and is then no
/// number.
std::string_view without_plus(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return text;
}

template <class Number>
bool parse_whole(std::string_view text, Number& value) {
  text = without_plus(trim(text));
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
}

}  // namespace

bool parse_number(std::string_view text, double& value) {
  return parse_whole(text, value);
}
bool parse_integer(std::string_view text, int64_t& value) {
  return parse_whole(text, value);
}

namespace {

/// Length of the UTF-8 sequence at text[at] and its code point, or 0 when it is not valid.
size_t decode_utf8(std::string_view text, size_t at, uint32_t& code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return code = lead, 1;
  const size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  code = lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

struct CodeRange {
  uint32_t first, last;
};

// Marks that stand on the character before them, of the scripts in wide use, vowels of decomposed
// Hangul, joiners and direction marks. Unicode: categories Mn, Me, and some of Cf.
constexpr CodeRange kNoColumns[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
    {0x05C4, 0x05C5}, {0x05C7, 0x05C7}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670},
    {0x06D6, 0x06DC}, {0x06DF, 0x06E4}, {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0711, 0x0711},
    {0x0730, 0x074A}, {0x07A6, 0x07B0}, {0x07EB, 0x07F3}, {0x07FD, 0x07FD}, {0x0816, 0x0819},
    {0x081B, 0x0823}, {0x0825, 0x0827}, {0x0829, 0x082D}, {0x0859, 0x085B}, {0x0898, 0x089F},
    {0x08CA, 0x08E1}, {0x08E3, 0x0902}, {0x093A, 0x093A}, {0x093C, 0x093C}, {0x0941, 0x0948},
    {0x094D, 0x094D}, {0x0951, 0x0957}, {0x0962, 0x0963}, {0x0981, 0x0981}, {0x09BC, 0x09BC},
    {0x09C1, 0x09C4}, {0x09CD, 0x09CD}, {0x09E2, 0x09E3}, {0x09FE, 0x0A02}, {0x0A3C, 0x0A3C},
    {0x0A41, 0x0A51}, {0x0A70, 0x0A71}, {0x0A75, 0x0A75}, {0x0A81, 0x0A82}, {0x0ABC, 0x0ABC},
    {0x0AC1, 0x0AC8}, {0x0ACD, 0x0ACD}, {0x0AE2, 0x0AE3}, {0x0AFA, 0x0B01}, {0x0B3C, 0x0B3C},
    {0x0B3F, 0x0B3F}, {0x0B41, 0x0B44}, {0x0B4D, 0x0B56}, {0x0B62, 0x0B63}, {0x0B82, 0x0B82},
    {0x0BC0, 0x0BC0}, {0x0BCD, 0x0BCD}, {0x0C00, 0x0C00}, {0x0C04, 0x0C04}, {0x0C3C, 0x0C3C},
    {0x0C3E, 0x0C40}, {0x0C46, 0x0C56}, {0x0C62, 0x0C63}, {0x0C81, 0x0C81}, {0x0CBC, 0x0CBC},
    {0x0CBF, 0x0CBF}, {0x0CC6, 0x0CC6}, {0x0CCC, 0x0CCD}, {0x0CE2, 0x0CE3}, {0x0D00, 0x0D01},
    {0x0D3B, 0x0D3C}, {0x0D41, 0x0D44}, {0x0D4D, 0x0D4D}, {0x0D62, 0x0D63}, {0x0D81, 0x0D81},
    {0x0DCA, 0x0DCA}, {0x0DD2, 0x0DD6}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
    {0x0EB1, 0x0EB1}, {0x0EB4, 0x0EBC}, {0x0EC8, 0x0ECD}, {0x0F18, 0x0F19}, {0x0F35, 0x0F35},
    {0x0F37, 0x0F37}, {0x0F39, 0x0F39}, {0x0F71, 0x0F7E}, {0x0F80, 0x0F84}, {0x0F86, 0x0F87},
    {0x0F8D, 0x0FBC}, {0x0FC6, 0x0FC6}, {0x1160, 0x11FF}, {0x1AB0, 0x1B03}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x20D0, 0x20F0}, {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

// Unicode: East Asian Width W and F; unassigned places between two wide ones count as wide.
constexpr CodeRange kTwoColumns[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x3247},   {0x3250, 0x4DBF},   {0x4E00, 0xA4C6},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAD9},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6B},
    {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x1B2FB}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320},
    {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E},
    {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E},
    {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4},
    {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2},
    {0x1F6D5, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7F0},
    {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAF6},
    {0x20000, 0x3FFFD}};

/// `ranges` in ascending order.
bool is_in(std::span<const CodeRange> ranges, uint32_t code) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code,
                       [](uint32_t value, const CodeRange& range) { return value < range.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

size_t columns_of(uint32_t code) {
  if (code < 0x0300) return 1;  // most text
  return is_in(kNoColumns, code) ? 0 : is_in(kTwoColumns, code) ? 2 : 1;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  uint32_t code;
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = decode_utf8(text, at, code);
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string shorten_bytes(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  text = text.substr(0, most);
  return std::string(text.substr(0, valid_utf8_prefix(text))) + "…";
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, in UTF-8 C2 80 to C2 9F, are commands to some terminals.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_c1 = byte == 0xC2 && next >= 0x80 && next <= 0x9F;
    if ((byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7F || is_c1) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", is_c1 ? next : byte);
      safe += escape;
      i += is_c1;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    uint32_t code = 0;
    const size_t length = decode_utf8(text, at, code);
    width += length == 0 ? 1 : columns_of(code);
    at += std::max<size_t>(length, 1);
  }
  return width;
}

namespace {

bool looks_numeric(std::string_view cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789.,+-eE%±[] ") == std::string_view::npos;
}

}  // namespace

std::string TextTable::plain() const {
  std::vector<std::vector<std::string>> rows = rows_;
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  std::vector<size_t> widths(rows[0].size(), 0);
  std::vector<bool> numeric(rows[0].size(), rows.size() > 1);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < rows[r].size() && c < widths.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(rows[r][c]));
      if (r > 0 && !looks_numeric(rows[r][c])) numeric[c] = false;
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size() && c < widths.size(); ++c) {
      const std::string padding(widths[c] - display_width(row[c]), ' ');
      line += (c > 0 ? "  " : "") + (numeric[c] ? padding + row[c] : row[c] + padding);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string TextTable::markdown() const {
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    text += "|";
    for (const std::string& cell : rows_[r]) text += " " + cell + " |";
    text += "\n";
    if (r == 0) {
      text += "|";
      for (size_t c = 0; c < rows_[0].size(); ++c) text += " --- |";
      text += "\n";
    }
  }
  return text;
}

}  // namespace fovea
