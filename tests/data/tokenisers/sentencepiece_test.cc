#include "tests/data/tokenisers/samples.h"

namespace fovea::sentencepiece_test {
namespace {

std::string hash_of(const std::string& bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.text();
}

class SentencePiece : public ::testing::Test {
 protected:
  void SetUp() override {
    LEARN_OR_SKIP(tokeniser, (TokeniserOptions{"unigram", 30, 1}), Texts{"x"});
  }
  static std::shared_ptr<const Tokeniser> learn(const std::string& kind, int64_t size,
                                                const Texts& texts) {
    return Tokeniser::learn({kind, size, 1}, texts);
  }
};

TEST_F(SentencePiece, FrequentPartsBecomePieces) {
  const Texts texts(20, "lower newer wider lowest newest widest");
  for (const char* kind : {"unigram", "bpe"}) {
    const auto tokeniser = learn(kind, 25, texts);
    EXPECT_LE(tokeniser->vocabulary().size(), 25);
    EXPECT_LT(tokeniser->encode("lowest wider").size(), 9u) << kind;
    EXPECT_EQ(texts_of(tokeniser->encode("wider"))[0].substr(0, 3), "\u2581") << kind;
  }
}

TEST_F(SentencePiece, CaseStays) {
  EXPECT_EQ(ids_of(learn("unigram", 30, {"ab ab ab"})->encode("AB")).back(), Vocabulary::kUnknown);
}

TEST_F(SentencePiece, TheVocabularyIsTheModels) {
  const auto tokeniser = learn("bpe", 40, {"the cat sat on the mat", "the dog sat on the log"});
  EXPECT_EQ(tokeniser->vocabulary().size(), 40);
  for (const Token& token : tokeniser->encode("the dog on the mat"))
    EXPECT_EQ(tokeniser->vocabulary().id(token.text), token.id);
}

TEST_F(SentencePiece, SpansOfCharactersThatChangeTheirLength) {
  const auto spans = [](const std::string& text) {
    const auto tokens = learn("unigram", 60, {"a b c d e f i 1 2 é"})->encode(text);
    std::string shown;
    const Texts parts = spans_of(tokens, text);
    for (size_t i = 0; i < tokens.size(); ++i) shown += tokens[i].text + "=" + parts[i] + "|";
    return shown;
  };
  EXPECT_EQ(spans("ce\u0301b"), "\u2581=|c=c|é=e\u0301|b=b|");
  EXPECT_EQ(spans("aﬁb"), "\u2581=|a=a|f=ﬁ|i=ﬁ|b=b|");
  EXPECT_EQ(spans("a ½b"), "\u2581=|a=a|\u2581= |1=½|⁄=½|2=½|b=b|");
  EXPECT_EQ(spans("  a\t\u00a0 b "), "\u2581=|a=a|\u2581=\t\u00a0 |b=b|");
  EXPECT_EQ(spans("a中文b"), "\u2581=|a=a|中文=中文|b=b|");  // unknown ones together
}

TEST_F(SentencePiece, LongTextsAreUsedWhole) {
  for (const char* kind : {"unigram", "bpe"}) {
    // One word, then blanks, of which the end alone holds the z; then three bytes a character.
    const std::string long_word = repeated("ab", 5000) + "z";
    const std::string many_words = repeated("ab ", 5000) + "z";
    const std::string chinese = repeated("我", 4000) + "z";
    for (const std::string& text : {long_word, many_words, chinese}) {
      const auto tokeniser = learn(kind, 8, {text});
      EXPECT_NE(tokeniser->vocabulary().id("z"), Vocabulary::kUnknown) << kind;
      EXPECT_EQ(tokeniser->join(texts_of(tokeniser->encode(text))), text) << kind;
    }
  }
}

TEST_F(SentencePiece, NoCharacterIsLostWhereALongTextIsCut) {
  // Wherever the first cut is, one of these texts has a sign across it that no other text has.
  Texts texts, signs;
  for (int i = 0; i < 50; ++i) {
    signs.push_back({'\xe4', '\xb8', char(0x80 + i)});
    texts.push_back(std::string(size_t(2950 + 2 * i), 'a') + signs.back() + std::string(200, 'a'));
  }
  const auto tokeniser = learn("bpe", 60, texts);
  for (const std::string& sign : signs)
    EXPECT_NE(tokeniser->vocabulary().id(sign), Vocabulary::kUnknown) << sign;
}

TEST_F(SentencePiece, TextsThatTheTrainerWouldDropAreUsed) {
  const auto tokeniser = learn("unigram", 30, {"ab\u2585cd", std::string("ef\0gh", 5)});
  for (const char* letter : {"a", "d", "e", "h"})
    EXPECT_NE(tokeniser->vocabulary().id(letter), Vocabulary::kUnknown) << letter;
  EXPECT_EQ(tokeniser->vocabulary().id(std::string_view("\0", 1)), Vocabulary::kUnknown);
  for (const char* name : {"<pad>", "<unk>", "<s>", "</s>"})
    for (const int64_t id : ids_of(learn("unigram", 30, {name})->encode(name)))
      EXPECT_GE(id, Vocabulary::kSpecial) << name;
}

TEST_F(SentencePiece, TextsOfNothingThatSurvives) {
  for (const char* text : {"\u200b\u2581\u2585", "\u00a0\u3000 \ufeff", "\u200e\u200f\x01\x7f"})
    expect_error(ErrorKind::BadData, "no text", [&] { learn("unigram", 30, {text, text}); });
}

TEST_F(SentencePiece, SizesThatTheTextsCannotGive) {
  const Texts texts{"the cat sat on the mat"};
  for (const char* kind : {"unigram", "bpe"})
    expect_error(ErrorKind::BadData, {kind, "found 7", "set size to 14 or more"},
                 [&] { learn(kind, 7, texts); });
  EXPECT_NO_THROW(learn("unigram", 14, texts));
  EXPECT_LT(learn("unigram", 500, texts)->vocabulary().size(), 40);
  expect_error(ErrorKind::BadData, {"bpe", "size 500", "set size to 35 or less"},
               [&] { learn("bpe", 500, texts); });
  EXPECT_EQ(learn("bpe", 35, texts)->vocabulary().size(), 35);
  expect_error(ErrorKind::InvalidArgument, {"at most 1000000"},
               [&] { learn("unigram", 1000001, texts); });
}

TEST_F(SentencePiece, RareCharactersOfAManySignScriptAreLeftOut) {
  std::string text;
  for (int code = 0x4E00; code < 0x4E00 + 1100; ++code) {
    const std::string sign{char(0xE0 | code >> 12), char(0x80 | (code >> 6 & 63)),
                           char(0x80 | (code & 63))};
    text += repeated(sign, code < 0x4E00 + 1099 ? 3 : 1);
  }
  const auto tokeniser = learn("unigram", 2000, {text});
  EXPECT_NE(tokeniser->vocabulary().id("一"), Vocabulary::kUnknown);
  EXPECT_EQ(tokeniser->encode(text).back().id, Vocabulary::kUnknown);
}

TEST_F(SentencePiece, DamagedModels) {
  const TokeniserState whole = learn("unigram", 30, {"ab ab"})->state();
  const auto restore = [](TokeniserState state, bool with_its_hash) {
    if (with_its_hash) state.description["model"] = hash_of(state.model);
    return [state] { Tokeniser::restore(state, "run"); };
  };
  for (const size_t at : {size_t{0}, whole.model.size() / 2, whole.model.size() - 1}) {
    TokeniserState changed = whole;
    changed.model[at] = char(changed.model[at] ^ 1);
    expect_error(ErrorKind::BadData, {"run", "damaged"}, restore(changed, false));
  }
  TokeniserState cut = whole;
  cut.model.resize(cut.model.size() / 2);
  expect_error(ErrorKind::BadData, {"run", "damaged"}, restore(cut, true));
  TokeniserState empty = whole;
  empty.model.clear();
  expect_error(ErrorKind::BadData, {"run", "damaged"}, restore(empty, false));
  TokeniserState other = whole;
  other.model = learn("unigram", 30, {"xy xy"})->state().model;
  expect_error(ErrorKind::BadData, {"run", "other pieces"}, restore(other, true));
}

TEST(SentencePieceMissing, RestoringAndJoiningStillWork) {
  const TokeniserState state{
      Json{{"kind", "bpe"}, {"vocabulary", {"\u2581a", "b"}}, {"model", hash_of("m")}}, "m"};
  if (testing::is_promised("bpe")) GTEST_SKIP() << "for builds without SentencePiece";
  try {
    Tokeniser::learn({"bpe", 7, 1}, Texts{"a"});
    FAIL() << "learned without SentencePiece";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << error.what();
  }
  const auto tokeniser = Tokeniser::restore(state, "here");
  EXPECT_EQ(tokeniser->vocabulary().id("b"), 5);
  EXPECT_EQ(tokeniser->join(Texts{"\u2581a", "b", "\u2581a"}), "ab a");
  EXPECT_EQ(tokeniser->state().model, "m");
  expect_error(ErrorKind::Unsupported,
               {"no SentencePiece", "libsentencepiece-dev", "FOVEA_WITH_SENTENCEPIECE", "prepared"},
               [&] { tokeniser->encode("a"); });
}

}  // namespace
}  // namespace fovea::sentencepiece_test
