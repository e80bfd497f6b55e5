#include "fovea/data/tokenisers/hugging_face/train.h"

#include "fovea/data/tokenisers/hugging_face/files.h"
#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::train_test {
namespace {

Strings stories() {
  Strings texts;
  for (int i = 0; i < 40; ++i)
    texts.push_back(
        concat("The cat number ", i, " sat on the mat; its owner didn't mind. Größe ", i * i, "."));
  return texts;
}

TokeniserTraining training_of(const char* model, int64_t size) {
  TokeniserTraining training;
  training.model = model;
  training.size = size;
  return training;
}

class TokeniserTrainer : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    NEEDS_ICU();
#ifndef FOVEA_WITH_SENTENCEPIECE
    if (GetParam() == std::string("unigram")) GTEST_SKIP() << "needs SentencePiece";
#endif
  }
};

TEST_P(TokeniserTrainer, LearnsWhatReadsBackAndSpellsTheTexts) {
  const HuggingFaceTokeniser learned = train_tokeniser(training_of(GetParam(), 330), stories());
  EXPECT_LE(learned.size(), 330);
  EXPECT_EQ(train_tokeniser(training_of(GetParam(), 330), stories()).to_json(), learned.to_json());
  const TemporaryFolder folder;
  write_tokeniser_folder(folder / "out", learned);
  const auto read = HuggingFaceTokeniser::load(folder / "out");
  EXPECT_EQ(read.to_json(), learned.to_json());
  const std::string text = "The cat sat on the mat; its owner didn't mind.";
  const Encoding encoding = read.encode(text);
  // Of words that have little in common SentencePiece learns mostly characters.
  const bool lower = GetParam() == std::string("wordpiece");
  EXPECT_LT(encoding.size(), GetParam() == std::string("unigram") ? text.size() : text.size() / 2);
  EXPECT_EQ(read.decode(encoding.ids),
            lower ? "the cat sat on the mat ; its owner didn ' t mind." : text);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokeniserTrainer, ::testing::Values("bpe", "wordpiece", "unigram"),
                         [](const auto& info) { return std::string(info.param); });

TEST(TokeniserTraining, BpeMergesTheMostFrequentPair) {
  NEEDS_ICU();
  TokeniserTraining training = training_of("bpe", 259);
  const Strings texts{"ab ab ab", "bc bc abc"};
  const Json model = train_tokeniser(training, texts).to_json()["model"];
  // Seen: "ab" 4 times ("Ġab" 2), "bc" 3, "Ġa" 3: after "ab" the pair of the smallest symbols.
  EXPECT_EQ(model["merges"], Json({"a b", "Ġ ab"}));
  EXPECT_EQ(model["vocab"]["<|endoftext|>"], 0);
  EXPECT_EQ(model["vocab"]["!"], 1);
  EXPECT_EQ(model["vocab"]["ab"], 257);
  training.minimum_count = 4;
  EXPECT_EQ(train_tokeniser(training, texts).to_json()["model"]["merges"], Json({"a b"}));
}

TEST(TokeniserTraining, WhatCannotBeLearned) {
  NEEDS_ICU();
  const auto learn = [](const char* model, int64_t size, const Strings& texts) {
    train_tokeniser(training_of(model, size), texts);
  };
  expect_error(ErrorKind::InvalidArgument, {"'bpee'", "did you mean 'bpe'"},
               [&] { learn("bpee", 300, stories()); });
  expect_error(ErrorKind::InvalidArgument, {"size 100", "257"},
               [&] { learn("bpe", 100, stories()); });
  expect_error(ErrorKind::BadData, "hold no text", [&] { learn("bpe", 300, {}); });
  expect_error(ErrorKind::BadData, "hold no text", [&] { learn("wordpiece", 300, {" "}); });
  expect_error(ErrorKind::BadData, "not valid UTF-8", [&] { learn("bpe", 300, {"a\xff"}); });
}

TEST(TokeniserFolders, OlderFilesOfBertAndGpt2) {
  NEEDS_ICU();
  const TemporaryFolder bert;
  bert.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhey\n##you\n");
  EXPECT_EQ(HuggingFaceTokeniser::load(bert.path()).encode("Heyyou").tokens,
            (Strings{"[CLS]", "hey", "##you", "[SEP]"}));
  bert.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(HuggingFaceTokeniser::load(bert.path()).encode("Hey").tokens,
            (Strings{"[CLS]", "[UNK]", "[SEP]"}));
  const TemporaryFolder gpt2;
  gpt2.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3})");
  gpt2.write("merges.txt", "#version: 0.2\na b\n");
  EXPECT_EQ(HuggingFaceTokeniser::load(gpt2.path()).encode("abb<|endoftext|>").ids,
            (std::vector<int64_t>{2, 1, 3}));
  const TemporaryFolder roberta;
  roberta.write("vocab.json",
                R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 4, "a": 5})");
  roberta.write("merges.txt", "#version: 0.2\n");
  EXPECT_EQ(HuggingFaceTokeniser::load(roberta.path()).encode("a <mask>", "a").ids,
            (std::vector<int64_t>{0, 5, 4, 2, 2, 5, 2}));
}

}  // namespace
}  // namespace fovea::train_test
