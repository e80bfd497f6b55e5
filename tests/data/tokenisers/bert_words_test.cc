#include "fovea/data/tokenisers/bert_words.h"

#include "tests/data/wordpiece_samples.h"

namespace fovea::bert_words_test {
namespace {

Texts words_of(const std::string& text, const WordPieceOptions& options = {}) {
  Texts all;
  BertWords words(text, options);
  while (words.next()) all.push_back(words.word());
  return all;
}

TEST(BertWords, EndAtWhiteSpace) {
  NEEDS_ICU();
  EXPECT_EQ(words_of(" a\tb\r\nc\u00a0d\u3000e\u2028f\u2029g\u1680h "),
            (Texts{"a", "b", "c", "d", "e", "f", "g", "h"}));
  EXPECT_EQ(words_of(""), Texts{});
  EXPECT_EQ(words_of(" \n"), Texts{});
}

TEST(BertWords, ControlCharactersGo) {
  NEEDS_ICU();
  // Also vertical tab, form feed and U+0085, which other definitions take for white space; format
  // characters; private use. What Unicode has not assigned stays.
  const std::string text =
      "a\x01"
      "b\x7f"
      "c\v\f\u0085d\u200be\u200df\u00adg\ue000h\ufffdi\u0378j";
  EXPECT_EQ(words_of(text), (Texts{"abcdefghi\u0378j"}));
  WordPieceOptions raw;
  raw.clean_text = false;
  EXPECT_EQ(words_of("a\x01\v\u200b \ufffd\u0085x", raw),
            (Texts{"a\x01", "\u200b", "\ufffd", "x"}));
}

TEST(BertWords, EveryAsciiSignIsAWord) {
  NEEDS_ICU();
  for (char sign = '!'; sign <= '~'; ++sign) {
    if (std::isalnum(static_cast<unsigned char>(sign))) continue;
    EXPECT_EQ(words_of(std::string("a") + sign + "b"), (Texts{"a", std::string(1, sign), "b"}));
  }
  EXPECT_EQ(words_of("$1.50+3^2~`"), (Texts{"$", "1", ".", "50", "+", "3", "^", "2", "~", "`"}));
}

TEST(BertWords, PunctuationOfAnyScriptButNoOtherSymbol) {
  NEEDS_ICU();
  EXPECT_EQ(words_of("a—b„c“d…e،f।g・h"),
            (Texts{"a", "—", "b", "„", "c", "“", "d", "…", "e", "،", "f", "।", "g", "・", "h"}));
  EXPECT_EQ(words_of("a€b©c→d😀e"), (Texts{"a€b©c→d😀e"}));
  // Signs that decompose to ASCII ones: not less than, not equal, the Greek question mark.
  EXPECT_EQ(words_of("a≮b≠c\u037ed"), (Texts{"a", "<", "b", "=", "c", ";", "d"}));
  EXPECT_EQ(words_of("a≮b", cased()), (Texts{"a≮b"}));
}

TEST(BertWords, IdeographsStandAloneKanaAndHangulDoNot) {
  NEEDS_ICU();
  EXPECT_EQ(words_of("a中国b"), (Texts{"a", "中", "国", "b"}));
  EXPECT_EQ(words_of("𠀀𫠠豈"), (Texts{"𠀀", "𫠠", "豈"}));
  EXPECT_EQ(words_of("カタカナ", cased()), (Texts{"カタカナ"}));
  EXPECT_EQ(words_of("한국 말", cased()), (Texts{"한국", "말"}));
  WordPieceOptions together;
  together.split_ideographs = false;
  EXPECT_EQ(words_of("a中国b", together), (Texts{"a中国b"}));
}

TEST(BertWords, LowerCaseAndAccents) {
  NEEDS_ICU();
  EXPECT_EQ(words_of("ÄÖÜ ÉÈ ŃÇ İ ẞ Ǆ"), (Texts{"aou", "ee", "nc", "i", "ß", "ǆ"}));
  EXPECT_EQ(words_of("ΣΑΣ Ѐ Й"), (Texts{"σασ", "е", "и"}));
  EXPECT_EQ(words_of("Ø Đ Ł ı"), (Texts{"ø", "đ", "ł", "ı"}));  // no marks: letters of their own
  EXPECT_EQ(words_of("\u0301a \u0301 b"), (Texts{"a", "b"}));
  // Only non-spacing marks go: the Devanagari vowel sign stays, the nukta does not.
  EXPECT_EQ(words_of("\u0958\u093e"), (Texts{"\u0915\u093e"}));
  EXPECT_EQ(words_of("가"), (Texts{"\u1100\u1161"}));
  EXPECT_EQ(words_of("ﬁ ²"), (Texts{"ﬁ", "²"}));  // compatibility forms stay
}

TEST(BertWords, EveryByteKnowsItsPlace) {
  NEEDS_ICU();
  const std::string text = "Cafe\u0301s, 가 x";
  BertWords words(text, {}, 10);
  ASSERT_TRUE(words.next());
  EXPECT_EQ(words.word(), "cafes");
  EXPECT_EQ(words.letters(), 5);
  EXPECT_EQ(words.span(0, 4).end, 15);  // with the accent, which is a code point of its own
  EXPECT_EQ(words.span(4, 5).begin, 15);
  EXPECT_EQ(words.span(0, 5).begin, 10);
  EXPECT_EQ(words.span(0, 5).end, 16);
  ASSERT_TRUE(words.next());
  EXPECT_EQ(words.word(), ",");
  EXPECT_EQ(words.span(0, 1).begin, 16);
  ASSERT_TRUE(words.next());
  EXPECT_EQ(words.span(0, 3).begin, 18);
  EXPECT_EQ(words.span(0, 3).end, 19);
  EXPECT_EQ(words.span(3, 6).begin, 18);
  ASSERT_TRUE(words.next());
  EXPECT_EQ(words.span(0, 1).begin, 20);
  EXPECT_FALSE(words.next());
  EXPECT_EQ(words.position(), 21);
}

}  // namespace
}  // namespace fovea::bert_words_test
