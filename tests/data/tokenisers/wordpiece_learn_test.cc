#include <map>
#include <random>

#include "fovea/data/tokenisers/wordpiece.h"
#include "tests/data/wordpiece_samples.h"

namespace fovea::wordpiece_learn_test {
namespace {

WordPiece learn(const Texts& texts, const WordPieceLearning& learning = {},
                const WordPieceOptions& options = {}) {
  WordCounts words(options);
  for (const std::string& text : texts) words.add(text);
  return WordPiece::learn(words, learning);
}

Texts pieces_of(const WordPiece& tokeniser) {
  Texts pieces;
  for (int64_t id = 0; id < tokeniser.size(); ++id) pieces.push_back(tokeniser.piece(id));
  return pieces;
}

TEST(WordPieceLearn, JoinsTheMostFrequentPairFirst) {
  NEEDS_ICU();
  // low x5, lower x2, new x6: (l ##o) and (##o ##w) 7 times, (n ##e) and (##e ##w) 6 times; of
  // equal pairs the one whose left piece is older wins.
  const WordPiece tokeniser =
      learn({"low low low low low lower lower new new new new new new"}, {100, 6, 1000});
  EXPECT_EQ(pieces_of(tokeniser), (Texts{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "l", "##o",
                                         "##w", "##e", "##r", "n", "lo", "low", "##ew", "new"}));
}

/// The same, counting all pairs anew each time.
Texts plain_learn(const std::map<std::string, int64_t>& counts, const WordPieceLearning& learning) {
  Texts pieces(std::begin(WordPiece::kSpecialNames), std::end(WordPiece::kSpecialNames));
  const auto number = [&](const std::string& piece) {
    const auto found = std::find(pieces.begin(), pieces.end(), piece);
    if (found != pieces.end()) return found - pieces.begin();
    pieces.push_back(piece);
    return std::ptrdiff_t(pieces.size()) - 1;
  };
  std::vector<std::pair<std::vector<std::ptrdiff_t>, int64_t>> words;
  for (const auto& [word, count] : counts) {
    words.push_back({{}, count});
    for (size_t i = 0; i < word.size(); ++i)
      words.back().first.push_back(number((i > 0 ? "##" : "") + word.substr(i, 1)));
  }
  while (int64_t(pieces.size()) < learning.size) {
    std::map<std::pair<std::ptrdiff_t, std::ptrdiff_t>, int64_t> pairs;
    for (const auto& [symbols, count] : words)
      for (size_t i = 1; i < symbols.size(); ++i) pairs[{symbols[i - 1], symbols[i]}] += count;
    std::pair<std::ptrdiff_t, std::ptrdiff_t> best;
    int64_t most = 0;
    for (const auto& [pair, count] : pairs)
      if (count > most) most = count, best = pair;
    if (most < learning.minimum_count) break;
    const auto joined = number(pieces[size_t(best.first)] + pieces[size_t(best.second)].substr(2));
    for (auto& [symbols, count] : words)
      for (size_t i = 1; i < symbols.size(); ++i)
        if (symbols[i - 1] == best.first && symbols[i] == best.second) {
          symbols[i - 1] = joined;
          symbols.erase(symbols.begin() + std::ptrdiff_t(i));
        }
  }
  return pieces;
}

TEST(WordPieceLearn, EqualsCountingAnewOnRandomTexts) {
  NEEDS_ICU();
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    std::string text;
    std::map<std::string, int64_t> counts;
    for (int i = 0; i < 200; ++i) {
      std::string word;
      for (size_t n = 1 + random() % 8; n > 0; --n) word += char('a' + random() % 2 + random() % 2);
      ++counts[word];
      text += word + " ";
    }
    const WordPieceLearning learning{60, 1 + round % 3, 1000};
    EXPECT_EQ(pieces_of(learn({text}, learning)), plain_learn(counts, learning)) << round;
  }
}

TEST(WordPieceLearn, TextsAreCleanedAsTheyWillBe) {
  NEEDS_ICU();
  const WordPiece uncased = learn({"Café CAFÉ café café"});
  EXPECT_NE(uncased.id("cafe"), uncased.special().unknown);
  const WordPiece with_case = learn({"Café CAFÉ café café"}, {}, cased());
  EXPECT_NE(with_case.id("café"), with_case.special().unknown);
  EXPECT_NE(with_case.id("C"), with_case.special().unknown);
  EXPECT_FALSE(with_case.options().lowercase);
}

TEST(WordPieceLearn, KnowsAllWordsOfItsTexts) {
  NEEDS_ICU();
  const Texts texts{"the cat sat on the mat, the fat cat!", "ein Kätzchen saß 中国 auf der Matte"};
  const WordPiece tokeniser = learn(texts, {60, 2, 1000});
  EXPECT_LE(tokeniser.size(), 60);
  for (const std::string& text : texts)
    for (const int64_t id : tokeniser.encode(text).ids) EXPECT_NE(id, tokeniser.special().unknown);
}

TEST(WordPieceLearn, RareCharactersBecomeUnknown) {
  NEEDS_ICU();
  const WordPiece tokeniser = learn({"aaa aab aab abz"}, {100, 1, 2});
  EXPECT_NE(tokeniser.id("b"), tokeniser.id("a"));
  for (const char* piece : {"z", "##z"})
    EXPECT_EQ(tokeniser.id(piece), tokeniser.special().unknown);
  EXPECT_EQ(cut(tokeniser, "abz aab"), (Texts{"[UNK]", "aab"}));
}

TEST(WordPieceLearn, SizesAndTextsThatCannotBe) {
  NEEDS_ICU();
  expect_error(ErrorKind::BadData, {"wordpiece", "size of 9", "found 8", "size to 9"}, [] {
    learn({"ab cd"}, {8, 2, 1000});
  });
  EXPECT_EQ(learn({"ab cd"}, {9, 2, 1000}).size(), 9);
  for (const int64_t size : {-1, 0, 5, 1000001})
    expect_error(ErrorKind::InvalidArgument, {"wordpiece", "size"}, [&] {
      learn({"ab"}, {size, 2, 1000});
    });
  for (const WordPieceLearning& learning : {WordPieceLearning{30, 0, 9}, {30, 1, 0}})
    expect_error(ErrorKind::InvalidArgument, {"at least 1"}, [&] { learn({"ab"}, learning); });
  for (const Texts& texts : {Texts{}, Texts{""}, Texts{" \x01"}})
    expect_error(ErrorKind::BadData, {"no text"}, [&] { learn(texts); });
  expect_error(ErrorKind::BadData, {"UTF-8", "byte 1 "}, [] { learn({"a\x80"}); });
  // A word over the limit would be unknown anyway.
  EXPECT_EQ(learn({"ab " + std::string(200, 'x')}).id("x"), 1);
}

}  // namespace
}  // namespace fovea::wordpiece_learn_test
