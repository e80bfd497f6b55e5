// Rows for pretraining: every piece once, no row too long, the second segment as it says.
#include "fovea/data/corpus/segments.h"

#include <gtest/gtest.h>

#include "tests/data/wordpiece_samples.h"

namespace fovea::segments_test {
namespace {

/// Every letter is a piece, so that documents can be told apart by their letters.
std::shared_ptr<const WordPiece> letters() {
  Texts pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.push_back({letter});
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.push_back(std::string("##") + letter);
  return std::make_shared<const WordPiece>(pieces, WordPieceOptions{}, "here");
}

/// Document d says its own letter, in sentences of 1 to 5 words.
std::vector<std::vector<std::string>> documents(int count, int sentences) {
  std::vector<std::vector<std::string>> all;
  for (int d = 0; d < count; ++d) {
    all.emplace_back();
    for (int s = 0; s < sentences; ++s) {
      std::string text;
      for (int w = 0; w <= (d + s) % 5; ++w) text += std::string(" ") + char('a' + d % 26);
      all.back().push_back(text);
    }
  }
  return all;
}

SegmentDataset rows_of(const std::vector<std::vector<std::string>>& texts, SegmentOptions options,
                       uint64_t seed = 1) {
  const auto tokeniser = letters();
  return SegmentDataset(tokenise(texts, *tokeniser, options), tokeniser, options, Random(seed));
}

SegmentOptions options_of(int64_t longest, bool pairs) {
  SegmentOptions options;
  options.longest = longest;
  options.next_sentence = pairs;
  return options;
}

TEST(Segments, WithoutPairsEveryPieceStandsInOneRow) {
  NEEDS_ICU();
  const auto texts = documents(7, 9);
  const SegmentDataset rows = rows_of(texts, options_of(12, false));
  std::string found, wanted;
  for (int64_t row = 0; row < rows.size(); ++row) {
    EXPECT_LE(rows.length(row), 12);
    found += rows.texts(row)[0] + " ";
    EXPECT_EQ(rows.texts(row)[1], "");
    EXPECT_EQ(rows.input(row), rows.texts(row)[0]);
  }
  for (const auto& document : texts)
    for (const std::string& sentence : document) wanted += sentence.substr(1) + " ";
  EXPECT_EQ(found, wanted);
}

TEST(Segments, PairsFollowOrComeFromAnotherDocument) {
  NEEDS_ICU();
  const SegmentDataset rows = rows_of(documents(20, 30), options_of(20, true));
  int64_t following = 0;
  for (int64_t row = 0; row < rows.size(); ++row) {
    EXPECT_LE(rows.length(row), 20);
    const auto [first, second] = rows.texts(row);
    ASSERT_FALSE(first.empty());
    ASSERT_FALSE(second.empty());
    EXPECT_EQ(first.front() == second.front(), rows.follows(row)) << first << " | " << second;
    following += rows.follows(row);
    EXPECT_EQ(rows.input(row), Json({{"text", first}, {"second", second}}));
  }
  EXPECT_GT(following, rows.size() / 3);
  EXPECT_LT(following, rows.size() * 2 / 3);
}

TEST(Segments, BatchAndExampleSayTheSame) {
  NEEDS_ICU();
  for (const bool pairs : {true, false}) {
    const SegmentDataset rows = rows_of(documents(6, 12), options_of(16, pairs));
    std::vector<int64_t> all;
    for (int64_t row = 0; row < rows.size(); ++row) all.push_back(row);
    const Batch batch = rows.batch(all);
    EXPECT_EQ(batch.has("next"), pairs);
    for (const int64_t row : all) {
      const Example example = rows.example(row);
      const int64_t length = rows.length(row);
      EXPECT_EQ(batch.at("tokens.keep")[row].sum().item<int64_t>(), length);
      for (const char* name : {"tokens", "segments"})
        EXPECT_TRUE(batch.at(name)[row].narrow(0, 0, length).equal(example.tensors.at(name)));
      if (pairs) {
        EXPECT_EQ(batch.at("next")[row].item<int64_t>(), rows.follows(row) ? 0 : 1);
      }
      EXPECT_EQ(int64_t(example.axis("tokens").labels.size()), length);
    }
  }
}

TEST(Segments, SpansPointIntoBothTexts) {
  NEEDS_ICU();
  const SegmentDataset rows = rows_of(documents(6, 12), options_of(16, true));
  const Axis axis = rows.example(0).axis("tokens");
  for (size_t i = 0; i < axis.labels.size(); ++i) {
    if (axis.labels[i].front() == '[') {
      EXPECT_EQ(axis.spans[i].begin, -1);
      continue;
    }
    EXPECT_EQ(axis.text.substr(size_t(axis.spans[i].begin), 1), axis.labels[i]);
  }
}

TEST(Segments, LongSentencesAreCutBetweenWords) {
  NEEDS_ICU();
  std::string text;
  for (int word = 0; word < 40; ++word) text += "abc ";
  const SegmentDataset rows = rows_of({{text}, {text}}, options_of(15, true));
  EXPECT_GT(rows.size(), 4);
  for (int64_t row = 0; row < rows.size(); ++row) {
    EXPECT_LE(rows.length(row), 15);
    for (const std::string& part : rows.texts(row))
      EXPECT_EQ(part.substr(0, 3), "abc") << "no row begins inside a word";
  }
}

TEST(Segments, SeedAndDocumentsDecideEverything) {
  NEEDS_ICU();
  const auto all = [](const SegmentDataset& rows) {
    Texts texts;
    for (int64_t row = 0; row < rows.size(); ++row)
      texts.push_back(rows.texts(row)[0] + "|" + rows.texts(row)[1]);
    return texts;
  };
  const auto texts = documents(9, 9);
  const SegmentOptions options = options_of(16, true);
  EXPECT_EQ(all(rows_of(texts, options, 1)), all(rows_of(texts, options, 1)));
  EXPECT_NE(all(rows_of(texts, options, 1)), all(rows_of(texts, options, 2)));
}

TEST(Segments, EmptyDocumentsAndSentencesAreLeftOut) {
  NEEDS_ICU();
  const SegmentDataset rows = rows_of({{}, {"", " "}, {"a b"}, {"c"}}, options_of(16, true));
  EXPECT_EQ(rows.size(), 2);
  EXPECT_EQ(rows_of({{}, {""}}, options_of(16, true)).size(), 0);
  EXPECT_EQ(rows_of({{"a b", "c"}}, options_of(16, true)).texts(0)[0].substr(0, 1), "a");
}

}  // namespace
}  // namespace fovea::segments_test
