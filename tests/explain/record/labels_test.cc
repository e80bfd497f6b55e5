#include "fovea/explain/record/labels.h"

#include <gtest/gtest.h>

#include <limits>

#include "fovea/base/text.h"

namespace fovea::labels_test {
namespace {

TEST(Labels, PrintableEscapesWhatMovesACursor) {
  EXPECT_EQ(printable_label("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable_label("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(printable_label("\xC2\x9B"), "\\x9b");             // a control character of two bytes
  EXPECT_EQ(printable_label("\xE2\x80\xAEx"), "\\u202ex");     // right-to-left override
  EXPECT_EQ(printable_label("\xE2\x80\xA8"), "\\u2028");       // line separator
  EXPECT_EQ(printable_label("\xEF\xBF\xBE"), "\xEF\xBF\xBD");  // U+FFFE is no character
  EXPECT_EQ(printable_label("a\xFFz\xE6"), "a\xEF\xBF\xBDz\xEF\xBF\xBD");
  EXPECT_EQ(printable_label(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable_label("日本 é"), "日本 é");
}

TEST(Labels, AsciiOnlyKeepsTheWidth) {
  EXPECT_EQ(ascii_only("aé日"), "a???");
  EXPECT_EQ(ascii_only("e\xCC\x81"), "?");
}

TEST(Labels, BlanksAtBothEndsAreVisible) {
  EXPECT_EQ(visible_blanks(" "), "␣");
  EXPECT_EQ(visible_blanks("  "), "␣␣");
  EXPECT_EQ(visible_blanks(" the old man "), "␣the old man␣");
  EXPECT_EQ(visible_blanks("\u00A0\u3000"), "␣␣");
  EXPECT_EQ(visible_blanks("a b"), "a b");
  EXPECT_EQ(visible_blanks(""), "");
  EXPECT_EQ(ascii_only(visible_blanks(" ")), "_");
}

TEST(Labels, ShortenCountsColumnsNotBytes) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdefg", 6), "abcde…");
  EXPECT_EQ(shorten("日本語学", 6), "日本…");
  EXPECT_EQ(shorten("e\xCC\x81tudes", 4), "e\xCC\x81tu…");
  EXPECT_EQ(shorten("abcdefg", 6, "..."), "abc...");
  EXPECT_EQ(shorten("abcdefg", 0), "");
  EXPECT_EQ(shorten("", 5), "");
}

TEST(Labels, LabelsThatWouldLookTheSameLoseTheirCommonStart) {
  using Labels = std::vector<std::string>;
  const Labels alike = {"mean of column 1 here", "mean of column 12 here"};
  EXPECT_EQ(distinct_starts(alike, 10), (Labels{"…1 here", "…12 here"}));
  EXPECT_EQ(distinct_starts(alike, 30), alike);
  const Labels equal = {"one long label", "one long label"};
  EXPECT_EQ(distinct_starts(equal, 5), equal);
  const Labels one_word = {"abcdefgh1", "abcdefgh2"};
  EXPECT_EQ(distinct_starts(one_word, 5), one_word);
  EXPECT_TRUE(distinct_starts({}, 5).empty());
}

TEST(Labels, WrappedBreaksAtSpacesAndInsideLongWords) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
  EXPECT_TRUE(wrapped("", 3).empty());
}

TEST(Labels, ValuesShareTheirDecimals) {
  const ValueFormat share(0.43);
  EXPECT_EQ(share(0.4), "0.400");
  EXPECT_EQ(share(-0.25), "-0.250");
  EXPECT_EQ(share(-0.0), "0.000");
  EXPECT_EQ(share(-1e-9), "0.000");
  EXPECT_EQ(share(std::numeric_limits<double>::quiet_NaN()), "no number");
  EXPECT_EQ(ValueFormat(1)(1), "1.000");
  EXPECT_EQ(ValueFormat(0.043)(0.04), "0.0400");
  EXPECT_EQ(ValueFormat(431)(12.5), "12");
  EXPECT_EQ(ValueFormat(2e9)(2e9), "2.00e+09");
  EXPECT_EQ(ValueFormat(0)(0), "0.000");
}

}  // namespace
}  // namespace fovea::labels_test
