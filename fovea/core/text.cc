#include "fovea/core/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace fovea {

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
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
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 2) + 1;
  const std::string_view tail = word.substr(word.rfind('.') + 1);
  for (const std::string& candidate : candidates) {
    size_t distance = edit_distance(word, candidate);
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

}  // namespace

bool parse_number(std::string_view text, double& value) {
  text = without_plus(trim(text));
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
}

bool parse_integer(std::string_view text, int64_t& value) {
  text = without_plus(trim(text));
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
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

bool is_combining(uint32_t code) {
  return (code >= 0x0300 && code <= 0x036F) || (code >= 0x1AB0 && code <= 0x1AFF) ||
         (code >= 0x20D0 && code <= 0x20FF) || (code >= 0xFE00 && code <= 0xFE0F) ||
         code == 0x200B || code == 0x200D;
}

bool is_wide(uint32_t code) {
  return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
         (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
         (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
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

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    uint32_t code = 0;
    const size_t length = decode_utf8(text, at, code);
    width += length == 0 ? 1 : is_combining(code) ? 0 : is_wide(code) ? 2 : 1;
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
  std::vector<size_t> widths(rows_[0].size(), 0);
  std::vector<bool> numeric(rows_[0].size(), rows_.size() > 1);
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t c = 0; c < rows_[r].size() && c < widths.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(rows_[r][c]));
      if (r > 0 && !looks_numeric(rows_[r][c])) numeric[c] = false;
    }
  std::string text;
  for (const auto& row : rows_) {
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
