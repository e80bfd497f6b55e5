// Whole files against what the tokenizers library 0.23 gives for them (tests/golden/hugging_face).
#include <thread>

#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::reference_test {
namespace {

std::optional<std::string> pair_of(const Json& input) {
  if (input["pair"].is_null()) return {};
  return input["pair"].get<std::string>();
}

class Reference : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { NEEDS_ICU(); }
};

TEST_P(Reference, IdsTokensAndOffsetsAreEqual) {
  const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser(GetParam()));
  const Json inputs = read_json_file(golden_tokeniser(GetParam()) / "expected.json");
  EXPECT_GE(inputs.size(), 3u);
  for (const Json& input : inputs) {
    const auto pair = pair_of(input);
    const Encoding encoding = tokeniser.encode(input["text"].get<std::string>(), pair);
    EXPECT_EQ(Json(encoding.ids), input["ids"]) << input["text"];
    EXPECT_EQ(Json(encoding.tokens), input["tokens"]) << input["text"];
    Json offsets = Json::array();
    for (const Offsets& each : encoding.offsets) offsets.push_back({each.begin, each.end});
    EXPECT_EQ(offsets, input["offsets"]) << input["text"];
  }
}

TEST_P(Reference, BytesNameTheSameTextAsCharacters) {
  const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser(GetParam()));
  const std::string text = "naïve café – 東京 👩‍👩‍👧";
  const Encoding encoding = tokeniser.encode(text);
  for (size_t i = 0; i < encoding.size(); ++i) {
    if (encoding.special[i]) continue;
    const Offsets characters = encoding.offsets[i], bytes = encoding.bytes[i];
    EXPECT_EQ(count_code_points(std::string_view(text).substr(0, size_t(bytes.begin))),
              characters.begin);
    EXPECT_EQ(count_code_points(std::string_view(text).substr(0, size_t(bytes.end))),
              characters.end);
  }
}

TEST_P(Reference, WhatIsWrittenReadsTheSame) {
  const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser(GetParam()));
  const Json json = tokeniser.to_json();
  const TemporaryFolder folder;
  tokeniser.save(folder / "tokenizer.json");
  const auto again = HuggingFaceTokeniser::load(folder.path());
  EXPECT_EQ(again.to_json(), json);
  const std::string text = "Two young, White males isn't ünique\n\n東京";
  EXPECT_EQ(again.encode(text).ids, tokeniser.encode(text).ids);
  // Every component stands as it was read.
  const Json original = read_json_file(golden_tokeniser(GetParam()) / "tokenizer.json");
  for (const char* key :
       {"normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens"})
    EXPECT_EQ(json[key], original[key]) << key;
  EXPECT_EQ(json["model"]["vocab"], original["model"]["vocab"]);
}

/// Texts that have broken tokenisers.
std::vector<std::string> attack_texts() {
  return {"",
          " ",
          "   \t\n ",
          "\u00a0\u2003\u3000",
          "👩‍👩‍👧‍👦🏽‍♀️🇩🇪",
          "e\u0301\u0323\u0308 \u0301leading mark",
          "東京は日本の首都です。",
          "مرحبا بالعالم",
          std::string("a\0b\x01\x7f\u0085\u009f", 9),
          "\ufeff\ufffd\u200b\u200d\u2028\u2029",
          "[CLS] <s> </s> <|endoftext|> [MASK]x",
          "İstanbul ǅ ﬁ ㍿ Å",
          std::string(5000, 'a'),
          std::string(3000, ' ')};
}

TEST_P(Reference, OffsetsLieInTheTextAndNothingBreaks) {
  const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser(GetParam()));
  for (const std::string& text : attack_texts()) {
    const Encoding encoding = tokeniser.encode(text);
    const int64_t length = count_code_points(text);
    for (size_t i = 0; i < encoding.size(); ++i) {
      EXPECT_LE(encoding.offsets[i].begin, encoding.offsets[i].end) << text;
      EXPECT_LE(encoding.offsets[i].end, length) << text;
      EXPECT_GE(encoding.ids[i], 0);
      EXPECT_LT(encoding.ids[i], tokeniser.size());
    }
    tokeniser.decode(encoding.ids);
    tokeniser.encode(text, text);
  }
  expect_error(ErrorKind::BadData, "not valid UTF-8 at byte 1", [&] { tokeniser.encode("a\xff"); });
  expect_error(ErrorKind::BadData, "not valid UTF-8", [&] { tokeniser.encode("a", "\xc3"); });
}

TEST_P(Reference, SeveralThreadsReadAtOnce) {
  const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser(GetParam()));
  const std::string text = "Two young, White males are outside near many bushes!";
  const auto expected = tokeniser.encode(text).ids;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        tokeniser.encode(concat("word", i, " ", repeat));
        if (tokeniser.encode(text).ids != expected) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, Reference, ::testing::Values("bert", "roberta", "gpt2", "t5"),
                         [](const auto& info) { return std::string(info.param); });

TEST(HuggingFaceTokeniser, CutsAsTheTokeniserOfBertTasksDoes) {
  NEEDS_ICU();
  const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser("bert"));
  const WordPiece wordpiece = WordPiece::load(golden_tokeniser("bert"));
  std::vector<std::string> texts = attack_texts();
  for (const Json& input : read_json_file(golden_tokeniser("bert") / "expected.json"))
    texts.push_back(input["text"].get<std::string>());
  for (const std::string& text : texts)
    EXPECT_EQ(tokeniser.encode(text, {}, /*add_special_tokens=*/false).ids,
              wordpiece.encode(text).ids)
        << text;
}

TEST(HuggingFaceTokeniser, ByteLevelTextsComeBackAsTheyWere) {
  NEEDS_ICU();
  const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser("gpt2"));
  for (const std::string& text : attack_texts()) {
    if (text.find("<|endoftext|>") != std::string::npos) continue;  // special, so left out
    EXPECT_EQ(tokeniser.decode(tokeniser.encode(text).ids), text);
  }
}

TEST(HuggingFaceTokeniser, DecodesAsTheReferenceDoes) {
  NEEDS_ICU();
  const auto bert = HuggingFaceTokeniser::load(golden_tokeniser("bert"));
  const auto ids = bert.encode("A man eats an apple .").ids;
  EXPECT_EQ(bert.decode(ids), "a man eats an apple.");
  EXPECT_EQ(bert.decode(ids, /*skip_special_tokens=*/false), "[CLS] a man eats an apple. [SEP]");
  const auto t5 = HuggingFaceTokeniser::load(golden_tokeniser("t5"));
  EXPECT_EQ(t5.decode(t5.encode("A man eats an apple.").ids), "A man eats an apple.");
  const std::vector<int64_t> strange{-1, 99999999};
  EXPECT_EQ(bert.decode(strange), "");
}

TEST(HuggingFaceTokeniser, AMegabyteWithoutABlankTakesSeconds) {
  NEEDS_ICU();
  std::string text(1 << 20, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = "thequickbrown"[i * 7919 % 13];
  for (const char* name : {"bert", "gpt2", "t5"}) {
    const auto tokeniser = HuggingFaceTokeniser::load(golden_tokeniser(name));
    EXPECT_GE(tokeniser.encode(text).size(), 1u) << name;
  }
}

}  // namespace
}  // namespace fovea::reference_test
