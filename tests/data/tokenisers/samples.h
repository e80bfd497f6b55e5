// Texts of many scripts and how they read after a tokeniser and back; helpers of the tokenisers'
// tests.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/tokenisers/tokeniser.h"
#include "tests/data/testing.h"

/// Learns, or skips the test in a build without the library.
#define LEARN_OR_SKIP(tokeniser, options, texts)                        \
  std::shared_ptr<const Tokeniser> tokeniser;                           \
  try {                                                                 \
    tokeniser = Tokeniser::learn(options, texts);                       \
  } catch (const Error& error) {                                        \
    ASSERT_EQ(error.kind(), ErrorKind::Unsupported) << error.what();    \
    ASSERT_FALSE(testing::is_promised((options).kind)) << error.what(); \
    GTEST_SKIP() << error.what();                                       \
  }

namespace fovea::testing {

/// Whether this build was configured with the library that the kind needs: then it must work.
inline bool is_promised(const std::string& kind) {
#ifdef FOVEA_WITH_SENTENCEPIECE
  if (kind == "unigram" || kind == "bpe") return true;
#endif
#ifdef FOVEA_WITH_ICU
  if (kind == "characters" || kind == "words") return true;
#endif
  return false;
}

}  // namespace fovea::testing

namespace fovea {

using Texts = std::vector<std::string>;

struct Sample {
  std::string name, text;
  std::string composed;    // NFC, white space runs as one blank and none at the ends
  std::string compatible;  // as SentencePiece normalises it, where that differs
};

inline std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

inline std::vector<Sample> samples() {
  const auto same = [](const std::string& name, const std::string& text) {
    return Sample{name, text, text, text};
  };
  const std::string ten_thousand = repeated("abc de äö.", 1000);
  return {
      same("English", "The quick brown fox, aged 3.5, can't jump (yet)!"),
      same("German", "Zwölf Boxkämpfer jagen Viktor quer über den großen Deich – „schön“!"),
      same("Arabic", "مرحبا بالعالم، كيف حالك؟"),
      same("Hebrew", "שלום עולם, מה שלומך?"),
      same("Hindi", "नमस्ते दुनिया, हिन्दी में लिखो।"),
      // An old single letter that NFC itself takes apart.
      {"Nukta", "\u0958\u0932\u092e", "\u0915\u093c\u0932\u092e", "\u0915\u093c\u0932\u092e"},
      same("Thai", "สวัสดีชาวโลก ภาษาไทย"),
      {"Thai AM", "\u0e19\u0e49\u0e33", "\u0e19\u0e49\u0e33", "\u0e19\u0e49\u0e4d\u0e32"},
      {"decomposed", "Cafe\u0301 an\u0303o, u\u0308ber", "Café año, über", "Café año, über"},
      same("emoji", "👩‍👩‍👧‍👦 and 🇩🇪🇫🇷 👍🏽!"),
      {"Chinese", "我喜欢学习，自然语言处理。", "我喜欢学习，自然语言处理。",
       "我喜欢学习,自然语言处理。"},
      {"several from one", "the ﬁnal ½", "the ﬁnal ½", "the final 1⁄2"},
      same("empty", ""),
      {"only spaces", " \t\u00a0\u202f\u3000\r\n ", "", ""},
      {"spaces", "  one\u00a0two\tthree\u202ffour\r\nfive  ", "one two three four five",
       "one two three four five"},
      same("10,000 characters", ten_thousand),
      {"control",
       "a\x01"
       "b\x7f c\x1b[0m",
       "a\x01"
       "b\x7f c\x1b[0m",
       "ab c[0m"},
      {"zero byte", std::string("a\0b", 3), std::string("a\0b", 3), std::string("a\0b", 3)},
      same("names of special symbols", "<s>x</s> <pad> <unk>"),
      {"blank mark", "one\u2581two", "one_two", "one two"},
  };
}

inline Texts sample_texts() {
  Texts texts;
  for (const Sample& sample : samples()) texts.push_back(sample.text);
  return texts;
}

/// Options that work with the texts above, for each kind.
inline TokeniserOptions sample_options(const std::string& kind) {
  const bool trained = kind == "unigram" || kind == "bpe";
  return {kind, trained ? 250 : 0, 1};
}

inline Texts texts_of(const std::vector<Token>& tokens) {
  Texts texts;
  for (const Token& token : tokens) texts.push_back(token.text);
  return texts;
}

inline std::vector<int64_t> ids_of(const std::vector<Token>& tokens) {
  std::vector<int64_t> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

/// The bytes of the original that each token came from.
inline Texts spans_of(const std::vector<Token>& tokens, const std::string& text) {
  Texts spans;
  for (const Token& token : tokens)
    spans.push_back(text.substr(token.begin, token.end - token.begin));
  return spans;
}

}  // namespace fovea
