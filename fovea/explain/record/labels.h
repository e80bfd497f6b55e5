// Text that is safe to show. Labels come from people's files: they hold control characters, broken
// UTF-8, wide and combining characters, and may be very long. Nothing else in explain/ may assume
// otherwise, so every label passes through here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// Without anything that could move a cursor or break XML: control characters as \n, \t, \x1b;
/// characters that reverse the writing direction as \u202e; invalid UTF-8 and non-characters as
/// U+FFFD.
std::string printable_label(std::string_view text);

/// Blanks at both ends as "␣": a label of one blank is a letter of its source like any other.
std::string visible_blanks(std::string_view text);

/// Invalid UTF-8 as U+FFFD, all else as it is.
std::string valid_utf8(std::string_view text);

/// With &, <, > and quotes as SVG and HTML want them.
std::string escape_markup(std::string_view text);

/// Everything beyond ASCII as '?' and the mark of a blank as '_', for terminals that have nothing
/// else.
std::string ascii_only(std::string_view text);

/// One element per code point, combining marks joined to the character before them.
std::vector<std::string> characters(std::string_view text);

/// At most `width` terminal columns, ending in `ellipsis` when something was cut off.
std::string shorten(std::string_view text, size_t width, std::string_view ellipsis = "…");

/// Labels that would look the same when cut off to `width` columns lose what they all start with
/// instead: "…11 over the week". Labels that stay distinct, or that are equal anyway, come back as
/// they are.
std::vector<std::string> distinct_starts(const std::vector<std::string>& labels, size_t width,
                                         std::string_view ellipsis = "…");

/// `text` and spaces up to `width` terminal columns.
std::string padded(const std::string& text, size_t width);

/// Lines of at most `width` terminal columns, broken at spaces where there are any.
std::vector<std::string> wrapped(std::string_view text, size_t width);

/// Digits compare as numbers: "context 2" before "context 10".
bool natural_less(const std::string& left, const std::string& right);

/// Numbers that stand under each other: the same count of decimals for all, three significant
/// digits for the largest.
class ValueFormat {
 public:
  /// `largest` is the greatest magnitude of the column.
  explicit ValueFormat(double largest);
  /// "no number" for NaN and infinity.
  std::string operator()(double value) const;

 private:
  int decimals_ = 3;
  bool scientific_ = false;
};

}  // namespace fovea
