#include "fovea/data/tokenisers/hugging_face/regex.h"
#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::pre_tokenisers_test {
namespace {

class PreTokenisers : public ::testing::Test {
 protected:
  void SetUp() override { NEEDS_ICU(); }
};

Json split_by(const char* kind, const char* pattern, const char* behaviour, bool invert = false) {
  return {{"type", "Split"},
          {"pattern", {{kind, pattern}}},
          {"behavior", behaviour},
          {"invert", invert}};
}

Json byte_level(bool prefix, bool regex = true) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", prefix},
          {"trim_offsets", true},
          {"use_regex", regex}};
}

TEST_F(PreTokenisers, SplitHasFiveBehaviours) {
  const auto cut = [](const char* behaviour, bool invert = false) {
    return pre_tokenised(split_by("String", "-", behaviour, invert), "the-final--countdown");
  };
  EXPECT_EQ(cut("Removed"), (Strings{"the", "final", "countdown"}));
  EXPECT_EQ(cut("Isolated"), (Strings{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(cut("MergedWithPrevious"), (Strings{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(cut("MergedWithNext"), (Strings{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(cut("Contiguous"), (Strings{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(cut("Removed", true), (Strings{"-", "-", "-"}));
  const auto words = [](const char* behaviour) {
    return pre_tokenised(split_by("Regex", "\\w+|[^\\w\\s]+", behaviour, true), "How are you?");
  };
  EXPECT_EQ(words("Removed"), (Strings{"How", "are", "you", "?"}));
  EXPECT_EQ(words("Isolated"), (Strings{"How", " ", "are", " ", "you", "?"}));
  EXPECT_EQ(words("MergedWithPrevious"), (Strings{"How ", "are ", "you", "?"}));
  EXPECT_EQ(words("MergedWithNext"), (Strings{"How", " are", " you", "?"}));
  EXPECT_EQ(words("Contiguous"), (Strings{"How", " ", "are", " ", "you?"}));
}

TEST_F(PreTokenisers, ByteLevelCutsAsGpt2) {
  EXPECT_EQ(pre_tokenised(byte_level(false), "Hello there       dear", true),
            (Strings{"Hello 0-5", "Ġthere 5-11", "ĠĠĠĠĠĠ 11-17", "Ġdear 17-22"}));
  EXPECT_EQ(pre_tokenised(byte_level(false), "we'll\n don't 12ab!? "),
            (Strings{"we", "'ll", "Ċ", "Ġdon", "'t", "Ġ12", "ab", "!?", "Ġ"}));
  EXPECT_EQ(pre_tokenised(byte_level(true), "i⭢j", true),
            (Strings{"Ġi 0-1", "âŃ¢ 1-4", "j 4-5"}));
  EXPECT_EQ(pre_tokenised(byte_level(true), " a"), (Strings{"Ġa"}));
  EXPECT_EQ(pre_tokenised(byte_level(true, false), "a b", true), (Strings{"ĠaĠb 0-3"}));
  EXPECT_EQ(pre_tokenised(byte_level(true), ""), Strings{});
}

TEST_F(PreTokenisers, TheExpressionsOfLlama3AndQwen2) {
  constexpr const char* kLlama3 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
      "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  EXPECT_EQ(
      pre_tokenised(split_by("Regex", kLlama3, "Isolated"), "I'M  here\n\n 12345 foo'LL!?\r\n  x"),
      (Strings{"I", "'M", " ", " here", "\n\n", " ", "123", "45", " foo", "'LL", "!?\r\n", " ",
               " x"}));
  constexpr const char* kQwen2 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
      "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  EXPECT_EQ(pre_tokenised(split_by("Regex", kQwen2, "Isolated"), "a1２ \u0085b"),
            (Strings{"a", "1", "２", " ", "\u0085b"}));
  // o200k, with possessive quantifiers
  constexpr const char* kPossessive = "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|\\s++$|\\s+";
  EXPECT_EQ(pre_tokenised(split_by("Regex", kPossessive, "Isolated"), " ab 1234 "),
            (Strings{" ab", " ", "1234", " "}));
}

TEST_F(PreTokenisers, ExpressionsMeanWhatOnigurumaMakesOfThem) {
  const auto cut = [](const char* expression, const std::string& text) {
    return pre_tokenised(split_by("Regex", expression, "Removed"), text);
  };
  EXPECT_EQ(cut("\\s", "a\u0085b\u000bc\u00a0d\u2028e\u3000f"),
            (Strings{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(cut("[^\\w]+", "a-b\u200dc_d"), (Strings{"a", "b", "c_d"}));
  EXPECT_EQ(cut("\\h+", "xffg0"), (Strings{"x", "g"}));
  EXPECT_EQ(cut("^a", "ab\nac"), (Strings{"b\n", "c"}));  // at every line
  EXPECT_EQ(cut("\\p{^L}+", "a1b"), (Strings{"a", "b"}));
  EXPECT_EQ(cut("a{,2}b", "xaabyb"), (Strings{"x", "y"}));
  EXPECT_EQ(cut("{x}", "a{x}b"), (Strings{"a", "b"}));
  EXPECT_EQ(cut("[[:digit:]]", "a1b"), (Strings{"a", "b"}));
  EXPECT_EQ(cut("x*", "axb"), (Strings{"a", "b"}));  // empty matches cut nothing out
  expect_error(ErrorKind::BadData, {"pattern.Regex", "cannot be read"}, [&] { cut("a(b", "x"); });
  expect_error(ErrorKind::Unsupported, "a{3,4}+", [&] { cut("a{3,4}+", "x"); });
  const std::string endless(100000, 'a');
  expect_error(ErrorKind::BadData, "100,000 bytes", [&] { cut(endless.c_str(), "x"); });
  expect_error(ErrorKind::BadData, "too many steps",
               [&] { cut("(a+)+$", std::string(5000, 'a') + "b"); });
}

TEST_F(PreTokenisers, Metaspace) {
  const auto cut = [](const Json& fields, const std::string& text) {
    Json component{{"type", "Metaspace"}, {"replacement", "▁"}};
    component.update(fields);
    return pre_tokenised(component, text, true);
  };
  EXPECT_EQ(cut(Json::object(), "Hey   friend!"),
            (Strings{"▁Hey 0-3", "▁ 3-4", "▁ 4-5", "▁friend! 5-13"}));
  EXPECT_EQ(cut({{"prepend_scheme", "never"}}, "Hey you"), (Strings{"Hey 0-3", "▁you 3-7"}));
  EXPECT_EQ(cut({{"add_prefix_space", false}}, "Hey"), (Strings{"Hey 0-3"}));  // older files
  EXPECT_EQ(cut({{"split", false}}, "a b"), (Strings{"▁a▁b 0-3"}));
  EXPECT_EQ(cut({{"prepend_scheme", "first"}}, " a"), (Strings{"▁a 0-2"}));
  expect_error(ErrorKind::BadData, "prepend_scheme", [&] {
    cut({{"prepend_scheme", "sometimes"}}, "a");
  });
  expect_error(ErrorKind::BadData, "one character", [&] {
    pre_tokenised({{"type", "Metaspace"}, {"replacement", "__"}}, "a");
  });
}

TEST_F(PreTokenisers, Words) {
  const auto of_type = [](const char* type) { return Json{{"type", type}}; };
  EXPECT_EQ(pre_tokenised(of_type("Whitespace"), "Hey, you_2!? é"),
            (Strings{"Hey", ",", "you_2", "!?", "é"}));
  EXPECT_EQ(pre_tokenised(of_type("WhitespaceSplit"), " Hey, man!\u3000x "),
            (Strings{"Hey,", "man!", "x"}));
  EXPECT_EQ(
      pre_tokenised(of_type("BertPreTokenizer"), "Hey, you$2 «x»", true),
      (Strings{"Hey 0-3", ", 3-4", "you 5-8", "$ 8-9", "2 9-10", "« 11-13", "x 13-14", "» 14-16"}));
  EXPECT_EQ(pre_tokenised(of_type("Punctuation"), "a,!b"), (Strings{"a", ",", "!", "b"}));
  EXPECT_EQ(pre_tokenised({{"type", "Punctuation"}, {"behavior", "Contiguous"}}, "a,!b"),
            (Strings{"a", ",!", "b"}));
  EXPECT_EQ(pre_tokenised({{"type", "Digits"}, {"individual_digits", false}}, "a12½b"),
            (Strings{"a", "12½", "b"}));
  EXPECT_EQ(pre_tokenised({{"type", "Digits"}, {"individual_digits", true}}, "a12b"),
            (Strings{"a", "1", "2", "b"}));
  EXPECT_EQ(pre_tokenised({{"type", "CharDelimiterSplit"}, {"delimiter", "é"}}, "aéb"),
            (Strings{"a", "b"}));
  EXPECT_EQ(pre_tokenised(of_type("UnicodeScripts"), "どこで生れ。Yes"),
            (Strings{"どこで生れ", "。", "Yes"}));
  EXPECT_EQ(pre_tokenised(of_type("UnicodeScripts"), "Apples are りんご 林檎"),
            (Strings{"Apples are ", "りんご 林檎"}));
  EXPECT_EQ(pre_tokenised({{"type", "FixedLength"}, {"length", 3}}, "Hello 👋 world"),
            (Strings{"Hel", "lo ", "👋 w", "orl", "d"}));
  const Json sequence{
      {"type", "Sequence"},
      {"pretokenizers", Json::array({of_type("WhitespaceSplit"),
                                     {{"type", "Digits"}, {"individual_digits", true}}})}};
  EXPECT_EQ(pre_tokenised(sequence, "a12 b"), (Strings{"a", "1", "2", "b"}));
}

}  // namespace
}  // namespace fovea::pre_tokenisers_test
