// Small text helpers that messages, tables and pictures share.
#pragma once

#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// The pieces one after the other, each as operator<< prints it.
template <class... Pieces>
std::string concat(const Pieces&... pieces) {
  std::ostringstream out;
  ((out << pieces), ...);
  return std::move(out).str();
}

/// "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// Splits at every `separator`; an empty text gives no parts.
std::vector<std::string> split(std::string_view text, char separator);

/// Without white space at both ends.
std::string_view trim(std::string_view text);

/// The candidate with the smallest edit distance to `word`, or "" when none is near enough to be
/// meant.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'layers'?)" when a candidate is near, else "".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// A number for people: `digits` significant digits, no trailing zeros.
std::string format_number(double value, int digits = 4);

/// The shortest text that reads back as the same number.
std::string format_exact(double value);
std::string format_exact(float value);

/// "3.2 s", "4 min 05 s", "2 h 10 min".
std::string format_duration(double seconds);

/// "12,345".
std::string format_count(int64_t count);

/// The whole of `text` as a number; false when anything else is left over.
bool parse_number(std::string_view text, double& value);
bool parse_integer(std::string_view text, int64_t& value);

/// Number of bytes of the longest valid UTF-8 prefix; text.size() when all of it is valid.
size_t valid_utf8_prefix(std::string_view text);

/// At most `most` bytes of the text, whole characters, and "…" where something was left out.
std::string shorten_bytes(std::string_view text, size_t most);

/// Text that is safe to print: control characters, C1 ones too, are written as \x1b, so that no
/// input can move a terminal's cursor. Tabs and line ends stay.
std::string printable(std::string_view text);

/// Columns that `text` takes in a terminal: one a code point, two for East Asian wide characters
/// and emoji, none for combining marks.
size_t display_width(std::string_view text);

/// A row of cells aligned under each other; numbers to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string plain() const;     // for a terminal
  std::string markdown() const;  // for docs

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
};

}  // namespace fovea
