#include "tests/data/tokenisers/samples.h"

namespace fovea::tokenisers::words_test {
namespace {

/// Cuts by the kind words, with the mark as "^"; the vocabulary does not matter.
Texts cut(const std::string& text) {
  Texts pieces = texts_of(Tokeniser::learn({"words", 0, 1}, Texts{"x"})->encode(text));
  for (std::string& piece : pieces)
    if (piece.starts_with("\u2581")) piece.replace(0, 3, "^");
  return pieces;
}

class Words : public ::testing::Test {
 protected:
  void SetUp() override { LEARN_OR_SKIP(tokeniser, (TokeniserOptions{"words", 0, 1}), Texts{"x"}); }
};

TEST_F(Words, BeginAtWhiteSpaceOrAtPunctuation) {
  EXPECT_EQ(
      cut("The fox, aged 3.5, can't jump (yet)!"),
      (Texts{"^The", "^fox", ",", "^aged", "^3.5", ",", "^can't", "^jump", "^(", "yet", ")", "!"}));
  EXPECT_EQ(cut("a--b $5 50%"), (Texts{"^a", "-", "-", "b", "^$", "5", "^50", "%"}));
  EXPECT_EQ(cut("שלום, עולם"), (Texts{"^שלום", ",", "^עולם"}));
}

TEST_F(Words, AnyWhiteSpaceCountsAndIsNoToken) {
  EXPECT_EQ(cut("  a\t\r\nb\u00a0c\u3000d "), (Texts{"^a", "^b", "^c", "^d"}));
  // ICU takes the narrow no-break space for a part of the number.
  EXPECT_EQ(cut("12\u202f345 km"), (Texts{"^12", "^345", "^km"}));
  EXPECT_EQ(cut("a \u0301b"), (Texts{"^a", "^\u0301", "b"}));
}

TEST_F(Words, DictionariesCutScriptsWithoutBlanks) {
  const Texts thai = cut("สวัสดีชาวโลก"), chinese = cut("我喜欢学习。");
  EXPECT_GT(thai.size(), 1u);
  EXPECT_LT(thai.size(), 6u);
  EXPECT_GT(chinese.size(), 2u);
  EXPECT_LT(chinese.size(), 6u);
  EXPECT_EQ(chinese.back(), "。");
  EXPECT_EQ(cut("👩‍👩‍👧‍👦🇩🇪🇫🇷"),
            (Texts{"^👩‍👩‍👧‍👦", "🇩🇪", "🇫🇷"}));
}

TEST_F(Words, AreComposedAndSpansKeepTheOriginal) {
  const std::string text = " cafe\u0301, x";
  const auto tokens = Tokeniser::learn({"words", 0, 1}, Texts{text})->encode(text);
  EXPECT_EQ(texts_of(tokens), (Texts{"\u2581café", ",", "\u2581x"}));
  EXPECT_EQ(spans_of(tokens, text), (Texts{"cafe\u0301", ",", "x"}));
}

TEST_F(Words, TheMarkItselfIsReadAsAnUnderscore) {
  EXPECT_EQ(cut("a \u2581\u2581b"), (Texts{"^a", "^_", "_", "b"}));
}

TEST_F(Words, TheSameWordWithAndWithoutBlankAreTwo) {
  const auto tokeniser = Tokeniser::learn({"words", 0, 2}, Texts{"(a a a) (a b"});
  EXPECT_EQ(tokeniser->vocabulary().to_json(), Json({"a", "\u2581(", "\u2581a"}));
  EXPECT_EQ(ids_of(tokeniser->encode("a (a b")), (std::vector<int64_t>{6, 5, 4, 1}));
}

TEST_F(Words, ControlCharactersStayUnknown) {
  const Texts texts{
      "\x01"
      "a \x1b"
      "b"};
  const auto tokeniser = Tokeniser::learn({"words", 0, 1}, texts);
  EXPECT_EQ(tokeniser->vocabulary().to_json(), Json({"a", "b"}));
  EXPECT_EQ(ids_of(tokeniser->encode(texts[0])), (std::vector<int64_t>{1, 4, 1, 5}));
}

}  // namespace
}  // namespace fovea::tokenisers::words_test
