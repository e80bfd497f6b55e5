#include "fovea/data/tokenisers/wordpiece.h"

#include <chrono>
#include <random>
#include <thread>

#include "tests/data/wordpiece_samples.h"

namespace fovea::wordpiece_test {
namespace {

using Spans = std::vector<std::pair<int64_t, int64_t>>;

TEST(WordPiece, TakesTheLongestPieceEachTime) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  // "una" wins over "un", although "##aff" would then have fitted.
  EXPECT_EQ(cut(tokeniser, "unaffable"), (Texts{"una", "##ffa", "##ble"}));
  EXPECT_EQ(cut(tokeniser, "The cats sat."), (Texts{"the", "cat", "##s", "sat", "."}));
  EXPECT_EQ(cut(tokeniser, "abc ab"), (Texts{"a", "##bc", "a", "##b"}));
}

TEST(WordPiece, AWordThatThePiecesCannotSpellIsOneUnknown) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  EXPECT_EQ(cut(tokeniser, "cats catx xcat cat"), (Texts{"cat", "##s", "[UNK]", "[UNK]", "cat"}));
  EXPECT_EQ(spans_of(tokeniser.encode("a catx!")), (Spans{{0, 1}, {2, 6}, {6, 7}}));
  // A piece for the inside of a word does not begin one, nor the other way round.
  EXPECT_EQ(cut(tokeniser, "bc ble acat"), (Texts{"[UNK]", "[UNK]", "[UNK]"}));
}

TEST(WordPiece, WordsOverTheLimitAreUnknown) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  const auto word = [](int letters) { return "a" + std::string(size_t(letters - 1), 'b'); };
  EXPECT_EQ(tokeniser.encode(word(100)).size(), 100);
  EXPECT_EQ(cut(tokeniser, word(101)), (Texts{"[UNK]"}));
  // The limit counts letters, not bytes: 99 accents that are taken off do not count.
  std::string accents = "a";
  for (int i = 0; i < 99; ++i) accents += "b\u0301";
  EXPECT_EQ(tokeniser.encode(accents).size(), 100);
}

TEST(WordPiece, CaseAndAccents) {
  NEEDS_ICU();
  EXPECT_EQ(cut(small_wordpiece(), "Cat CAFÉ cafe\u0301"), (Texts{"cat", "cafe", "cafe"}));
  EXPECT_EQ(cut(small_wordpiece(cased()), "Cat café Café"), (Texts{"Cat", "café", "[UNK]"}));
  WordPieceOptions keeps = WordPieceOptions();
  keeps.strip_accents = false;
  EXPECT_EQ(cut(small_wordpiece(keeps), "Café"), (Texts{"café"}));
  EXPECT_EQ(cut(small_wordpiece(keeps), "İ"), (Texts{"i", "##\u0307"}));
  EXPECT_EQ(cut(small_wordpiece(), "İ Σ"), (Texts{"i", "σ"}));
  WordPieceOptions strips = cased();
  strips.strip_accents = true;
  EXPECT_EQ(cut(small_wordpiece(strips), "Cat Café café"), (Texts{"Cat", "[UNK]", "cafe"}));
}

TEST(WordPiece, SpansCountCodePointsOfTheOriginal) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  EXPECT_EQ(spans_of(tokeniser.encode("  Unaffable, cafe\u0301s!")),
            (Spans{{2, 5}, {5, 8}, {8, 11}, {11, 12}, {13, 18}, {18, 19}, {19, 20}}));
  // Removed characters belong to no piece, but are counted; emoji are one code point each.
  EXPECT_EQ(spans_of(tokeniser.encode("\u200b😀 c\u00ada\x01t")), (Spans{{1, 2}, {3, 8}}));
  // One Hangul syllable becomes two letters that stand at the same place.
  EXPECT_EQ(spans_of(tokeniser.encode("a 가")), (Spans{{0, 1}, {2, 3}, {2, 3}}));
  EXPECT_EQ(cut(tokeniser, "a 가"), (Texts{"a", "ᄀ", "##ᅡ"}));
  EXPECT_EQ(spans_of(tokeniser.encode("中国a")), (Spans{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(WordPiece, NumbersOfWordsRiseByOne) {
  NEEDS_ICU();
  const Pieces pieces = small_wordpiece().encode("Unaffable [MASK]cats, xx!");
  EXPECT_EQ(pieces.words, (Ids{0, 0, 0, 1, 2, 2, 3, 4, 5}));
}

TEST(WordPiece, NamesOfSpecialTokensAreKeptWhole) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  EXPECT_EQ(cut(tokeniser, "the [MASK] sat.[SEP]a[CLS][PAD] [UNK]"),
            (Texts{"the", "[MASK]", "sat", ".", "[SEP]", "a", "[CLS]", "[PAD]", "[UNK]"}));
  EXPECT_EQ(spans_of(tokeniser.encode("é [MASK]a")), (Spans{{0, 1}, {2, 8}, {8, 9}}));
  // Spelled otherwise it is text.
  EXPECT_EQ(cut(tokeniser, "[mask] [MASK"), (Texts{"[", "mask", "]", "[", "mask"}));
  const WordPiece with_more(small_vocabulary(), {}, "here", {"un", "una"});
  EXPECT_EQ(cut(with_more, "catunas"), (Texts{"cat", "una", "[UNK]"}));
}

TEST(WordPiece, WordsThatAreCutAlready) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  const Pieces pieces = tokeniser.encode_words(Texts{"Cats", "", "\u200b", "a.b", "café"});
  EXPECT_EQ(names_of(tokeniser, pieces),
            (Texts{"cat", "##s", "[UNK]", "[UNK]", "a", ".", "[UNK]", "cafe"}));
  EXPECT_EQ(pieces.words, (Ids{0, 0, 1, 2, 3, 3, 3, 4}));
  EXPECT_EQ(spans_of(pieces),
            (Spans{{0, 3}, {3, 4}, {5, 5}, {6, 7}, {8, 9}, {9, 10}, {10, 11}, {12, 16}}));
}

TEST(WordPiece, StrangeTexts) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  for (const char* nothing : {"", " ", " \t\r\n\u00a0\u3000\u2028", "\u200b\ufeff\x01\x7f"})
    EXPECT_EQ(tokeniser.encode(nothing).size(), 0) << nothing;
  EXPECT_EQ(cut(tokeniser, "😀😀 👩‍👩‍👧‍👦"), (Texts{"[UNK]", "[UNK]"}));
  EXPECT_EQ(cut(tokeniser, std::string("c\0at\0", 5)), (Texts{"cat"}));
  EXPECT_EQ(cut(tokeniser, "c\ufffdat"), (Texts{"cat"}));
  const std::string word(1 << 20, 'a');
  EXPECT_EQ(spans_of(tokeniser.encode(word)), (Spans{{0, 1 << 20}}));
  for (const auto& [text, place] : std::vector<std::pair<std::string, std::string>>{
           {"abc\xff", "byte 3 "}, {"ä\xc3", "byte 2 "}, {"\xed\xa0\x80", "byte 0 "}}) {
    expect_error(ErrorKind::BadData, {"UTF-8", place}, [&] { tokeniser.encode(text); });
    expect_error(ErrorKind::BadData, {"UTF-8", place}, [&] {
      tokeniser.encode_words(Texts{"a", text});
    });
  }
}

/// Longest match first, by looking every candidate up in a list.
Texts plain_cut(const Texts& vocabulary, const std::string& word) {
  Texts pieces;
  for (size_t at = 0; at < word.size();) {
    size_t length = word.size() - at;
    std::string piece;
    for (; length > 0; --length) {
      piece = (at > 0 ? "##" : "") + word.substr(at, length);
      if (std::find(vocabulary.begin(), vocabulary.end(), piece) != vocabulary.end()) break;
    }
    if (length == 0) return {"[UNK]"};
    pieces.push_back(piece);
    at += length;
  }
  return pieces;
}

TEST(WordPiece, EqualsAPlainSearchOnRandomVocabularies) {
  NEEDS_ICU();
  std::mt19937 random(7);
  const auto letters = [&](size_t most) {
    std::string text;
    for (size_t i = 0, n = 1 + random() % most; i < n; ++i) text += char('a' + random() % 3);
    return text;
  };
  for (int round = 0; round < 50; ++round) {
    Texts vocabulary(std::begin(WordPiece::kSpecialNames), std::end(WordPiece::kSpecialNames));
    for (int i = 0; i < 15; ++i) vocabulary.push_back((i % 2 ? "##" : "") + letters(4));
    const WordPiece tokeniser(vocabulary, {}, "here");
    for (int i = 0; i < 20; ++i) {
      const std::string word = letters(12);
      EXPECT_EQ(cut(tokeniser, word), plain_cut(vocabulary, word)) << word;
    }
  }
}

TEST(WordPiece, LooksPiecesUpAndJoinsThem) {
  const WordPiece tokeniser = small_wordpiece();
  EXPECT_EQ(tokeniser.size(), int64_t(small_vocabulary().size()));
  for (int64_t id = 0; id < tokeniser.size(); ++id)
    EXPECT_EQ(tokeniser.id(tokeniser.piece(id)), id);
  EXPECT_EQ(tokeniser.id("ca"), 1);
  EXPECT_EQ(tokeniser.id("##"), 1);
  EXPECT_EQ(tokeniser.id(""), 1);
  EXPECT_EQ(tokeniser.special().mask, 4);
  EXPECT_TRUE(tokeniser.is_special(3));
  EXPECT_FALSE(tokeniser.is_special(5));
  EXPECT_TRUE(tokeniser.continues(tokeniser.id("##s")));
  EXPECT_EQ(tokeniser.join(Ids{2, 11, 12, 13, 22, 3}), "[CLS] the cats ! [SEP]");
  EXPECT_EQ(tokeniser.join(Ids{13, 13}), "##ss");
  expect_error(ErrorKind::InvalidArgument, {"no piece -1"}, [&] { tokeniser.piece(-1); });
  expect_error(ErrorKind::InvalidArgument, {"no piece 99"}, [&] { tokeniser.join(Ids{99}); });
}

TEST(WordPiece, OfEqualPiecesTheLastCounts) {
  Texts vocabulary = small_vocabulary();
  vocabulary.push_back("cat");
  EXPECT_EQ(WordPiece(vocabulary, {}, "here").id("cat"), int64_t(vocabulary.size()) - 1);
}

TEST(WordPiece, VocabulariesThatAreNone) {
  expect_error(ErrorKind::BadData, {"here", "'[PAD]'", "'[MASK]'", "BERT"}, [] {
    WordPiece({"a", "[UNK]", "[CLS]", "[SEP]"}, {}, "here");
  });
  expect_error(ErrorKind::BadData, {"here", "'xx'", "whole"},
               [] { WordPiece(small_vocabulary(), {}, "here", {"xx"}); });
  expect_error(ErrorKind::BadData, {"here", "whole"},
               [] { WordPiece(small_vocabulary(), {}, "here", {""}); });
  WordPieceOptions none;
  none.longest_word = 0;
  expect_error(ErrorKind::InvalidArgument, {"longest word"}, [&] { small_wordpiece(none); });
}

TEST(WordPiece, EncodesInSeveralThreadsAtOnce) {
  NEEDS_ICU();
  const WordPiece tokeniser = small_wordpiece();
  const std::string text = "The cats, Café 中国 가 [MASK] unaffable!";
  const Ids expected = tokeniser.encode(text).ids;
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) count += tokeniser.encode(text).ids != expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(WordPieceMissing, LoadingAndLookingUpNeedNoIcu) {
  const WordPiece tokeniser = WordPiece::from_json(small_wordpiece().to_json(), "here");
  EXPECT_EQ(tokeniser.id("cat"), 12);
#ifndef FOVEA_WITH_ICU
  expect_error(ErrorKind::Unsupported, {"no ICU", "libicu-dev", "FOVEA_WITH_ICU"},
               [&] { tokeniser.encode("a"); });
  expect_error(ErrorKind::Unsupported, {"no ICU"}, [] { WordCounts().add("a"); });
#endif
}

}  // namespace
}  // namespace fovea::wordpiece_test
