#include "tests/data/tokenisers/samples.h"

namespace fovea::characters_test {
namespace {

/// Cuts by the kind characters; the vocabulary does not matter.
std::vector<Token> cut(const std::string& text) {
  return Tokeniser::learn({"characters", 0, 1}, Texts{"x"})->encode(text);
}

class Characters : public ::testing::Test {
 protected:
  void SetUp() override { LEARN_OR_SKIP(tokeniser, (TokeniserOptions{}), Texts{"x"}); }
};

TEST_F(Characters, OneTokenPerVisibleCharacter) {
  EXPECT_EQ(texts_of(cut("añ")), (Texts{"a", "ñ"}));
  EXPECT_EQ(texts_of(cut("👩‍👩‍👧‍👦🇩🇪🇫🇷👍🏽")),
            (Texts{"👩‍👩‍👧‍👦", "🇩🇪", "🇫🇷", "👍🏽"}));
  EXPECT_EQ(texts_of(cut("สวัสดี")), (Texts{"ส", "วั", "ส", "ดี"}));
  EXPECT_EQ(texts_of(cut("של")), (Texts{"ש", "ל"}));  // in the order of reading
  EXPECT_EQ(texts_of(cut("한")), (Texts{"한"}));
}

TEST_F(Characters, AccentsAreComposedAndSpansKeepTheOriginal) {
  const std::string text = "e\u0301x";
  const auto tokens = cut(text);
  EXPECT_EQ(texts_of(tokens), (Texts{"é", "x"}));
  EXPECT_EQ(spans_of(tokens, text), (Texts{"e\u0301", "x"}));
  EXPECT_EQ(texts_of(cut("\u1112\u1161\u11ab")), (Texts{"한"}));
}

TEST_F(Characters, AnyWhiteSpaceIsOnePlainBlank) {
  const std::string text = "a\t\u00a0\u202f\u2009\u3000\u2028\r\n\n\rb";
  const auto tokens = cut(text);
  EXPECT_EQ(texts_of(tokens), (Texts{"a", " ", " ", " ", " ", " ", " ", " ", " ", " ", "b"}));
  EXPECT_EQ(spans_of(tokens, text)[7], "\r\n");
  EXPECT_EQ(texts_of(cut("a\u200bb")), (Texts{"a", "\u200b", "b"}));  // Unicode calls it no space
}

TEST_F(Characters, SpansTileTheText) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    size_t end = 0;
    for (const Token& token : cut(sample.text)) {
      ASSERT_EQ(token.begin, end);
      ASSERT_LT(token.begin, token.end);
      end = token.end;
    }
    EXPECT_EQ(end, sample.text.size());
  }
}

TEST_F(Characters, TenThousandOfThem) {
  EXPECT_EQ(cut(repeated("abc de äö.", 1000)).size(), 10000u);
}

TEST_F(Characters, CountsDecideTheVocabulary) {
  const Texts texts{"banana", "e\u0301é b"};
  const auto list = [&](int64_t size, int64_t minimum_count) {
    return Tokeniser::learn({"characters", size, minimum_count}, texts)->vocabulary().to_json();
  };
  EXPECT_EQ(list(0, 1), Json({"a", "b", "n", "é", " "}));
  EXPECT_EQ(list(6, 1), Json({"a", "b"}));
  EXPECT_EQ(list(0, 3), Json({"a"}));
  expect_error(ErrorKind::BadData, {"9 times", "minimum_count"}, [&] { list(0, 9); });
}

TEST_F(Characters, ControlCharactersStayUnknown) {
  const Texts texts{"a\x01\x1b\x7f\u0080\u009f"};
  const auto tokeniser = Tokeniser::learn({"characters", 0, 1}, texts);
  EXPECT_EQ(tokeniser->vocabulary().to_json(), Json::array({"a"}));
  const auto tokens = tokeniser->encode(texts[0]);
  EXPECT_EQ(ids_of(tokens), (std::vector<int64_t>{4, 1, 1, 1, 1, 1}));
  EXPECT_EQ(tokens[1].text, "\x01");
}

TEST(CharactersWithoutIcu, TheMessageSaysWhatToDo) {
  const auto tokeniser =
      Tokeniser::restore({Json{{"kind", "characters"}, {"vocabulary", {"a"}}}, ""}, "here");
  try {
    EXPECT_EQ(ids_of(tokeniser->encode("ab")), (std::vector<int64_t>{4, 1}));
  } catch (const Error&) {
    expect_error(ErrorKind::Unsupported, {"no ICU", "libicu-dev", "FOVEA_WITH_ICU", "prepared"},
                 [&] { tokeniser->encode("ab"); });
    expect_error(ErrorKind::Unsupported, {"no ICU"}, [] {
      Tokeniser::learn({"words", 0, 1}, Texts{"a"});
    });
  }
}

}  // namespace
}  // namespace fovea::characters_test
