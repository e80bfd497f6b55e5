#include "fovea/data/language/load.h"

#include <gtest/gtest.h>

#include "fovea/data/language/text_stream.h"
#include "fovea/data/tokenisers/hugging_face/train.h"
#include "fovea/tensor/to_vector.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::language::load_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

class LanguageText : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
  }
  Splits load(const std::filesystem::path& path, bool whole = false) {
    DataSource source;
    source.path = path;
    source.whole = whole;
    return load_language(source, options, 16, coding);
  }
  /// Each different line is different text.
  static std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += concat("line ", i, " of the text\n");
    return text;
  }
  std::string text_of(const Batch& batch, int64_t row) const {
    const auto length = batch.at("tokens.keep")[row].sum().item<int64_t>();
    return coding.tokeniser->decode(
        to_vector<int64_t>(batch.at("tokens")[row].narrow(0, 0, length)), false);
  }

  TemporaryFolder folder;
  LanguageDataOptions options;
  LanguageCoding coding;
};

TEST_F(LanguageText, WindowsGoThroughTheTextAndItsEndIsHeldOut) {
  const std::string text = lines(40);
  const Splits splits = load(folder.write("book.txt", text));
  ASSERT_TRUE(splits.train && splits.validation && !splits.test);
  EXPECT_EQ(coding.window, 16);
  const size_t cut = size_t(0.9 * double(text.size()));
  std::string read;
  for (int64_t row = 0; row < splits.train->size(); ++row) {
    const Batch batch = splits.train->batch(std::vector{row});
    const std::string own = text_of(batch, 0);
    EXPECT_EQ(batch.at("characters").item<double>(), double(own.size() - 1));
    read += row == 0 ? own : own.substr(1);  // a window begins with the last token of another
  }
  EXPECT_EQ(read, text.substr(0, cut));
  const Batch first = splits.validation->batch(std::vector<int64_t>{0});
  EXPECT_EQ(text_of(first, 0), text.substr(cut, 17));
  EXPECT_EQ(splits.train->input(1), text.substr(16, 8));
}

TEST_F(LanguageText, TrainingWindowsBeginAnywhere) {
  std::string text;  // no window stands there twice
  for (int i = 0; i < 150; ++i) text += concat(100'003 + i * i * 37);
  const Splits splits = load(folder.write("book.txt", text));
  std::set<size_t> begins;
  const std::vector<int64_t> rows{0, 3, splits.train->size() - 1};
  for (uint64_t step = 0; step < 40; ++step) {
    const Batch batch = splits.train->augmented_batch(rows, Random(step));
    ASSERT_EQ(batch.at("tokens").sizes(), at::IntArrayRef({3, 17}));
    EXPECT_TRUE(batch.at("tokens.keep").all().item<bool>());
    for (int64_t row = 0; row < 3; ++row) {
      const size_t place = text.find(text_of(batch, row));
      ASSERT_NE(place, std::string::npos);
      if (row == 1) begins.insert(place);
    }
  }
  EXPECT_GE(*begins.begin(), 48u);
  EXPECT_LT(*begins.rbegin(), 64u);
  EXPECT_GT(begins.size(), 10u);
}

TEST_F(LanguageText, AFolderOfTextsHasEndsBetweenThem) {
  options.validation_fraction = 0;
  folder.write("b.txt", lines(4));
  folder.write("a.txt", "Grüße\r\nan alle\r\n");
  const Splits splits = load(folder.path());
  const std::string first = text_of(splits.train->batch(std::vector<int64_t>{0}), 0);
  EXPECT_EQ(first, "Grüße\nan alle\n<|endoftext|>li");
  EXPECT_EQ(coding.tokeniser->token(coding.end()), "<|endoftext|>");
}

TEST_F(LanguageText, CharactersThatTrainingDidNotSeeAreUnknown) {
  load(folder.write("book.txt", lines(40)));
  const Splits other = load(folder.write("other.txt", "the text €€\n"), /*whole=*/true);
  ASSERT_TRUE(other.test && !other.train);
  EXPECT_NE(join(other.notes).find("2 tokens are not in the vocabulary"), std::string::npos)
      << join(other.notes);
}

TEST_F(LanguageText, LongTextsAreCutWhereNoWordIs) {
  std::string text;
  while (text.size() < 300'000) text += lines(3) + "\n\n  several   blanks, and points ... \n";
  const HuggingFaceTokeniser characters = character_tokeniser(std::vector{text});
  const EncodedText encoded = encode_texts(characters, std::vector{text}, -1, "");
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < encoded.tokens->size(); ++i) ids.push_back((*encoded.tokens)[i]);
  EXPECT_EQ(characters.decode(ids), text);

  TokeniserTraining training;
  training.size = 400;
  const HuggingFaceTokeniser pieces = train_tokeniser(training, std::vector{text.substr(0, 5000)});
  const EncodedText cut = encode_texts(pieces, std::vector{text}, -1, "");
  const std::vector<int64_t> whole = pieces.encode(text).ids;
  ASSERT_EQ(cut.tokens->size(), int64_t(whole.size()));
  for (size_t i = 0; i < whole.size(); ++i) ASSERT_EQ((*cut.tokens)[int64_t(i)], whole[i]) << i;
}

TEST_F(LanguageText, SmallTextsHaveShorterWindowsAndTooSmallOnesAreRefused) {
  options.validation_fraction = 0;
  const Splits splits = load(folder.write("small.txt", std::string(40, 'a')));
  EXPECT_EQ(coding.window, 10);
  EXPECT_NE(join(splits.notes).find("windows of 10 tokens"), std::string::npos);
  coding = {};
  expect_error(ErrorKind::BadData, {"tiny.txt", "at least 32"},
               [&] { load(folder.write("tiny.txt", "too few")); });
  coding = {};
  options.window = 40;
  DataSource source;
  source.path = folder.write("short.txt", std::string(33, 'a'));
  expect_error(ErrorKind::BadData, {"short.txt", "data.window=40"},
               [&] { load_language(source, options, 64, coding); });
  expect_error(ErrorKind::InvalidArgument, "model.maximum_length",
               [&] { load_language(source, options, 16, coding); });
}

TEST_F(LanguageText, WhatIsNoTextIsRefused) {
  expect_error(ErrorKind::BadData, {"empty.txt", "no text"},
               [&] { load(folder.write("empty.txt", " \n \n")); });
  expect_error(ErrorKind::BadData, {"bytes.txt:2", "UTF-8"},
               [&] { load(folder.write("bytes.txt", "a\nb\xff")); });
  options.tokeniser = "charcters";
  expect_error(ErrorKind::NotFound, {"charcters", "characters", "tokenizer.json"},
               [&] { load(folder.write("book.txt", lines(10))); });
  std::filesystem::create_directory(folder / "none");
  expect_error(ErrorKind::NotFound, "no text files", [&] { load(folder / "none"); });
}

TEST_F(LanguageText, SyntheticDigitsStandTwiceInALine) {
  SyntheticTextOptions generator;
  generator.rows = 50, generator.validation_rows = 0, generator.pairs = 3;
  const auto texts = draw_recall(generator);
  ASSERT_EQ(texts.train.size(), 1);
  EXPECT_TRUE(texts.validation.empty());
  for (const std::string& line : split(texts.train[0], '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string> words = split(line, ' ');
    ASSERT_EQ(words.size(), 6u) << line;
    const std::set<std::string> first(words.begin(), words.begin() + 3),
        second(words.begin() + 3, words.end());
    EXPECT_EQ(first, second) << line;
    EXPECT_EQ(first.size(), 3u) << line;
  }
}

TEST_F(LanguageText, CharactersOfSeveralTokensAreHeldBackUntilTheyAreWhole) {
  TokeniserTraining training;
  training.size = 257;  // bytes alone
  const HuggingFaceTokeniser bytes = train_tokeniser(training, std::vector<std::string>{"abc"});
  TextStream stream(bytes, bytes.encode("a").ids);
  std::vector<std::string> pieces;
  for (const int64_t id : bytes.encode("ü€b").ids) pieces.push_back(stream.add(id));
  EXPECT_EQ(pieces, (std::vector<std::string>{"", "ü", "", "", "€", "b"}));
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(token_label(bytes, bytes.id("b")), "b");
}

}  // namespace
}  // namespace fovea::language::load_test
