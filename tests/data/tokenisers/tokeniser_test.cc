#include "fovea/data/tokenisers/tokeniser.h"

#include <thread>

#include "tests/data/tokenisers/samples.h"

namespace fovea::tokeniser_test {
namespace {

/// White space runs as one blank, none at the ends; only plain blanks are left of it by then.
std::string collapsed(const std::string& text) {
  std::string tight;
  for (const char c : text)
    if (c != ' ' || (!tight.empty() && tight.back() != ' ')) tight += c;
  if (tight.ends_with(' ')) tight.pop_back();
  return tight;
}

class EveryTokeniser : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryTokeniser, ::testing::ValuesIn(tokeniser_kinds()));

TEST_P(EveryTokeniser, SpansLieInsideTheTextAndInOrder) {
  LEARN_OR_SKIP(tokeniser, sample_options(GetParam()), sample_texts());
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    size_t last = 0;
    for (const Token& token : tokeniser->encode(sample.text)) {
      EXPECT_LE(last, token.begin);
      EXPECT_LE(token.begin, token.end);
      EXPECT_LE(token.end, sample.text.size());
      // Neither end stands inside a character.
      EXPECT_EQ(valid_utf8_prefix(sample.text.substr(token.begin)),
                sample.text.size() - token.begin);
      EXPECT_EQ(valid_utf8_prefix(sample.text.substr(0, token.end)), token.end);
      last = token.begin;
    }
  }
}

TEST_P(EveryTokeniser, JoiningRestoresTheText) {
  const bool sentencepiece = GetParam() == "unigram" || GetParam() == "bpe";
  LEARN_OR_SKIP(tokeniser, sample_options(GetParam()), sample_texts());
  for (const Sample& sample : samples()) {
    std::string expected = sentencepiece ? sample.compatible : sample.composed;
    if (GetParam() == "characters" && sample.name == "blank mark") expected = sample.text;
    EXPECT_EQ(collapsed(tokeniser->join(texts_of(tokeniser->encode(sample.text)))), expected)
        << sample.name;
  }
}

TEST_P(EveryTokeniser, UnknownSymbolsKeepTheirText) {
  TokeniserOptions options = sample_options(GetParam());
  if (options.size > 0) options.size = 8;
  LEARN_OR_SKIP(tokeniser, options, (Texts{"ab ab ab"}));
  const std::vector<Token> tokens = tokeniser->encode("ab 中 ab");
  EXPECT_EQ(tokeniser->join(texts_of(tokens)), "ab 中 ab");
  int unknown = 0;
  for (const Token& token : tokens) {
    unknown += token.id == Vocabulary::kUnknown;
    if (token.id == Vocabulary::kUnknown)
      EXPECT_NE(token.text.find("中"), std::string::npos);
    else
      EXPECT_EQ(tokeniser->vocabulary().token(token.id), token.text);
    EXPECT_FALSE(token.id != Vocabulary::kUnknown && Vocabulary::is_special(token.id));
  }
  EXPECT_EQ(unknown, 1);
}

TEST_P(EveryTokeniser, TextNeverGivesAnotherSpecialSymbol) {
  LEARN_OR_SKIP(tokeniser, sample_options(GetParam()), sample_texts());
  for (const int64_t id : ids_of(tokeniser->encode("<pad><s> <s> </s> <unk> <pad>")))
    EXPECT_GE(id, Vocabulary::kSpecial) << tokeniser->vocabulary().token(id);
}

TEST_P(EveryTokeniser, LearningTwiceGivesTheSame) {
  LEARN_OR_SKIP(one, sample_options(GetParam()), sample_texts());
  const auto two = Tokeniser::learn(sample_options(GetParam()), sample_texts());
  EXPECT_EQ(one->state().description, two->state().description);
  EXPECT_EQ(one->state().model, two->state().model);
}

TEST_P(EveryTokeniser, ComesBackFromItsState) {
  LEARN_OR_SKIP(tokeniser, sample_options(GetParam()), sample_texts());
  TokeniserState state = tokeniser->state();
  state.description = parse_json(state.description.dump(), "here");
  const auto again = Tokeniser::restore(state, "here");
  EXPECT_EQ(again->kind(), GetParam());
  EXPECT_EQ(again->vocabulary().to_json(), tokeniser->vocabulary().to_json());
  EXPECT_EQ(again->state().model, tokeniser->state().model);
  for (const Sample& sample : samples()) {
    const auto expected = tokeniser->encode(sample.text), found = again->encode(sample.text);
    EXPECT_EQ(ids_of(found), ids_of(expected)) << sample.name;
    EXPECT_EQ(spans_of(found, sample.text), spans_of(expected, sample.text)) << sample.name;
  }
}

TEST_P(EveryTokeniser, EncodesInSeveralThreadsAtOnce) {
  LEARN_OR_SKIP(tokeniser, sample_options(GetParam()), sample_texts());
  const auto encode_all = [&, texts = sample_texts()] {
    std::vector<std::vector<int64_t>> all;
    for (const std::string& text : texts) all.push_back(ids_of(tokeniser->encode(text)));
    return all;
  };
  const auto expected = encode_all();
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) count += encode_all() != expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_P(EveryTokeniser, InvalidUtf8IsBadDataWithItsPlace) {
  const TokeniserOptions options = sample_options(GetParam());
  expect_error(ErrorKind::BadData, {"training text 2", "UTF-8", "byte 1"}, [&] {
    Tokeniser::learn(options, Texts{"fine", "a\x80"});
  });
  LEARN_OR_SKIP(tokeniser, options, sample_texts());
  for (const auto& [text, place] : std::vector<std::pair<std::string, std::string>>{
           {"abc\xff", "byte 3 "}, {"ä\xc3", "byte 2 "}, {"\xed\xa0\x80", "byte 0 "}})
    expect_error(ErrorKind::BadData, {"UTF-8", place}, [&] { tokeniser->encode(text); });
}

TEST_P(EveryTokeniser, NeedsTextAndRoom) {
  TokeniserOptions options = sample_options(GetParam());
  LEARN_OR_SKIP(tokeniser, options, sample_texts());
  for (const Texts& texts : {Texts{}, Texts{""}, Texts{"\x01", std::string("\0", 1)}})
    expect_error(ErrorKind::BadData, {GetParam(), "no text"},
                 [&] { Tokeniser::learn(options, texts); });
  for (const int64_t size : {-1, 1, 4}) {
    options.size = size;
    expect_error(ErrorKind::InvalidArgument, {GetParam(), "size", "more than 4"},
                 [&] { Tokeniser::learn(options, sample_texts()); });
  }
}

TEST(Tokeniser, UnknownKinds) {
  expect_error(ErrorKind::NotFound, {"'wrds'", "did you mean 'words'", "bpe"}, [] {
    Tokeniser::learn({"wrds", 0, 1}, Texts{"a"});
  });
  expect_error(ErrorKind::BadData, {"a.json", "'wrds'", "characters"}, [] {
    Tokeniser::restore({Json{{"kind", "wrds"}, {"vocabulary", Json::array()}}, ""}, "a.json");
  });
}

TEST(Tokeniser, DamagedDescriptions) {
  const auto restore = [](const char* description) {
    return [description] { Tokeniser::restore({Json::parse(description), ""}, "a.json"); };
  };
  expect_error(ErrorKind::BadData, {"a.json", "'kind'"}, restore("[]"));
  expect_error(ErrorKind::BadData, {"a.json", "'kind'"}, restore(R"({"kind": 3})"));
  expect_error(ErrorKind::BadData, {"a.json", "'vocabulary'"}, restore(R"({"kind": "words"})"));
  expect_error(ErrorKind::BadData, {"a.json", "list"},
               restore(R"({"kind": "words", "vocabulary": "a"})"));
  expect_error(ErrorKind::BadData, {"a.json", "'model'"},
               restore(R"({"kind": "bpe", "vocabulary": []})"));
  expect_error(ErrorKind::BadData, {"a.json", "damaged"},
               restore(R"({"kind": "bpe", "vocabulary": [], "model": "fnv1a64:0"})"));
}

TEST(Tokeniser, JoinsWithoutAnyLibrary) {
  const auto restore = [](const char* kind) {
    return Tokeniser::restore({Json{{"kind", kind}, {"vocabulary", {"a", "b"}}}, ""}, "here");
  };
  const Texts pieces{"\u2581a", "\u2581", "b", ",", "\u2581\u2581c"};
  EXPECT_EQ(restore("words")->join(pieces), "a b,  c");
  EXPECT_EQ(restore("words")->join(Texts{}), "");
  EXPECT_EQ(restore("words")->join(Texts{"\u2581", "\u2581"}), "");
  EXPECT_EQ(restore("characters")->join(Texts{" ", "a", "\u2581"}), " a\u2581");
  EXPECT_EQ(restore("characters")->vocabulary().id("b"), 5);
}

}  // namespace
}  // namespace fovea::tokeniser_test
