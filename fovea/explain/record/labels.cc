#include "fovea/explain/record/labels.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>

#include "fovea/base/code_points.h"
#include "fovea/base/text.h"

namespace fovea {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr const char* kBlankMark = "␣";

/// Bytes of the valid code point at `at`, or 0.
size_t code_point_length(std::string_view text, size_t at) {
  const size_t length = code_point_size(text[at]);
  const std::string_view piece = text.substr(at, length);
  return valid_utf8_prefix(piece) == length ? length : 0;
}

/// Calls visit(piece) for each code point; an invalid byte is visited as U+FFFD.
template <class Visit>
void for_each_code_point(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = code_point_length(text, at);
    visit(length == 0 ? std::string_view(kReplacement) : text.substr(at, length));
    at += std::max<size_t>(length, 1);
  }
}

bool turns_direction(uint32_t code) {
  return code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool breaks_lines(uint32_t code) {
  return code == 0x2028 || code == 0x2029;
}

}  // namespace

std::string printable_label(std::string_view text) {
  std::string result;
  for_each_code_point(text, [&](std::string_view piece) {
    size_t at = 0;
    const uint32_t code = next_code_point(piece, at);
    char escape[16] = "";
    if (code == '\n') {
      result += "\\n";
    } else if (code == '\t') {
      result += "\\t";
    } else if (code == '\r') {
      result += "\\r";
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
      std::snprintf(escape, sizeof escape, "\\x%02x", code);
    } else if (turns_direction(code) || breaks_lines(code)) {
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
    } else if ((code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF)) {
      result += kReplacement;
    } else {
      result += piece;
    }
    result += escape;
  });
  return result;
}

std::string visible_blanks(std::string_view text) {
  std::vector<std::string> pieces;
  for_each_code_point(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  auto is_blank = [](const std::string& piece) {
    return piece == " " || piece == "\u00A0" || piece == "\u3000";
  };
  const auto first = std::ranges::find_if_not(pieces, is_blank);
  const auto last = std::find_if_not(pieces.rbegin(), std::make_reverse_iterator(first), is_blank);
  std::fill(pieces.begin(), first, kBlankMark);
  std::fill(pieces.rbegin(), last, kBlankMark);
  return join(pieces, "");
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  for_each_code_point(text, [&](std::string_view piece) { result += piece; });
  return result;
}

std::string escape_markup(std::string_view text) {
  static constexpr std::pair<char, const char*> kEscapes[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string result;
  for (const char character : text) {
    const auto escape =
        std::ranges::find(kEscapes, character, &std::pair<char, const char*>::first);
    if (escape == std::end(kEscapes))
      result += character;
    else
      result += escape->second;
  }
  return result;
}

std::string ascii_only(std::string_view text) {
  std::string result;
  for (const std::string& character : characters(text))
    result += character.size() == 1     ? character
              : character == kBlankMark ? "_"
                                        : std::string(display_width(character), '?');
  return result;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> result;
  for_each_code_point(text, [&](std::string_view piece) {
    if (!result.empty() && display_width(piece) == 0) {
      result.back() += piece;
    } else {
      result.emplace_back(piece);
    }
  });
  return result;
}

std::string shorten(std::string_view text, size_t width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const size_t mark = display_width(ellipsis);
  std::string result;
  size_t used = 0;
  for (const std::string& character : characters(text)) {
    const size_t next = used + display_width(character);
    if (next + mark > width) break;
    result += character;
    used = next;
  }
  if (mark <= width) result += ellipsis;
  return result;
}

std::vector<std::string> distinct_starts(const std::vector<std::string>& labels, size_t width,
                                         std::string_view ellipsis) {
  std::set<std::string> whole(labels.begin(), labels.end()), cut;
  for (const std::string& label : labels) cut.insert(shorten(label, width, ellipsis));
  if (whole.size() < 2 || cut.size() == whole.size()) return labels;
  size_t common = labels.front().size();
  for (const std::string& label : labels) {
    const auto differs =
        std::mismatch(labels.front().begin(), labels.front().end(), label.begin(), label.end());
    common = std::min(common, size_t(differs.first - labels.front().begin()));
  }
  // Back to the start of a word, which is also the start of a character.
  const size_t space = labels.front().rfind(' ', common == 0 ? 0 : common - 1);
  if (space == std::string::npos || space == 0) return labels;
  std::vector<std::string> result;
  for (const std::string& label : labels)
    result.push_back(concat(ellipsis, label.substr(space + 1)));
  return result;
}

std::string padded(const std::string& text, size_t width) {
  const size_t used = display_width(text);
  return used >= width ? text : text + std::string(width - used, ' ');
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  auto flush = [&] {
    if (!line.empty()) lines.push_back(line);
    line.clear();
  };
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) flush();
    if (!line.empty()) line += ' ';
    for (const std::string& character : characters(word)) {
      if (!line.empty() && display_width(line) + display_width(character) > width) flush();
      line += character;
    }
  }
  flush();
  return lines;
}

bool natural_less(const std::string& left, const std::string& right) {
  auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    if (is_digit(left[i]) && is_digit(right[j])) {
      size_t i_end = i, j_end = j;
      while (i_end < left.size() && is_digit(left[i_end])) ++i_end;
      while (j_end < right.size() && is_digit(right[j_end])) ++j_end;
      while (i < i_end && left[i] == '0') ++i;
      while (j < j_end && right[j] == '0') ++j;
      if (i_end - i != j_end - j) return i_end - i < j_end - j;
      const int order = left.compare(i, i_end - i, right, j, j_end - j);
      if (order != 0) return order < 0;
      i = i_end;
      j = j_end;
    } else {
      if (left[i] != right[j]) return left[i] < right[j];
      ++i;
      ++j;
    }
  }
  return left.size() - i < right.size() - j ||
         (i == left.size() && j == right.size() && left < right);
}

ValueFormat::ValueFormat(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return;
  scientific_ = largest >= 1e6 || largest < 1e-4;
  decimals_ = scientific_ ? 2 : std::clamp(3 - int(std::ceil(std::log10(largest) - 1e-9)), 0, 6);
}

std::string ValueFormat::operator()(double value) const {
  if (!std::isfinite(value)) return "no number";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, scientific_ ? "%.*e" : "%.*f", decimals_, value);
  const std::string text = buffer;
  // The sign of a number that shows no digit would only puzzle.
  const bool is_minus_zero = text[0] == '-' && text.find_first_of("123456789") == std::string::npos;
  return is_minus_zero ? text.substr(1) : text;
}

}  // namespace fovea
