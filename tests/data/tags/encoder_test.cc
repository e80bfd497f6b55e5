#include "fovea/data/tags/encoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/word_pieces.h"
#include "tests/support/expect_error.h"

namespace fovea::tags::encoder_test {
namespace {

using testing::expect_error;
using testing::word_pieces;

std::vector<int64_t> numbers(const at::Tensor& tensor) {
  const at::Tensor own = tensor.contiguous();
  return {own.data_ptr<int64_t>(), own.data_ptr<int64_t>() + own.numel()};
}

PieceEncoder pieces(int64_t longest = 16) {
  return {word_pieces(), {longest, "windows", 2}};
}

Sentence ada() {
  Sentence sentence = sentence_of({"Ada", "was", "in", "Paris"});
  sentence.tags = {1, 0, 0, 3};
  sentence.decisive = {{3, 2}};
  return sentence;
}

TEST(Tagging, WordsAreJoinedByBlanks) {
  const Sentence sentence = sentence_of({"Ünal", "was", "in", "Paris"});
  EXPECT_EQ(sentence.text, "Ünal was in Paris");
  EXPECT_EQ(sentence.spans[1].begin, 5);  // code points, not bytes
  EXPECT_EQ(sentence.spans[3].end, 17);
  expect_error(ErrorKind::BadData, "UTF-8", [] { sentence_of({"a", "\xff"}); });
}

#ifdef FOVEA_WITH_ICU
TEST(Tagging, ATextIsCutIntoWords) {
  const Sentence sentence = cut_sentence("  Ünal, was in\tParis. ");
  EXPECT_EQ(sentence.words, (std::vector<std::string>{"Ünal", ",", "was", "in", "Paris", "."}));
  EXPECT_EQ(sentence.spans[0].begin, 2);
  EXPECT_EQ(sentence.spans[1].begin, 6);
  EXPECT_EQ(sentence.spans[4].begin, 15);
  EXPECT_EQ(sentence.spans[4].end, 20);
  EXPECT_TRUE(cut_sentence("").words.empty());
  EXPECT_TRUE(cut_sentence(" \t").words.empty());
  EXPECT_THROW(cut_sentence("a\xff"), Error);
}
#endif

TEST(Tagging, PiecesKnowWhereWordsBegin) {
  const Example example = pieces().example(ada());
  EXPECT_EQ(numbers(example.tensors.at("tokens")),
            (std::vector<int64_t>{2, 13, 14, 10, 11, 12, 3}));  // [CLS] ad ##a was in paris [SEP]
  EXPECT_EQ(numbers(example.tensors.at("words")), (std::vector<int64_t>{1, 3, 4, 5}));
  EXPECT_EQ(numbers(example.tensors.at("target")), (std::vector<int64_t>{1, 0, 0, 3}));
  const at::Tensor truth = example.truth.at("attention");  // [T, T]
  EXPECT_EQ(truth.sum().item<int64_t>(), 1);
  EXPECT_TRUE(truth[5][4].item<bool>()) << "Paris should look at in";
  EXPECT_EQ(example.axis("words").labels, ada().words);
}

TEST(Tagging, SpansOfPiecesCountInTheTextAsItWasGiven) {
  Sentence sentence = sentence_of({"Ada", "was"});
  sentence.text = " «Ada» was";
  sentence.spans = {{2, 5}, {7, 10}};
  const Axis axis = pieces().example(sentence).axis("tokens");
  EXPECT_EQ(axis.text, sentence.text);
  EXPECT_EQ(axis.spans[1].begin, 2);
  EXPECT_EQ(axis.spans[2].begin, 4);  // ##a
  EXPECT_EQ(axis.spans[3].begin, 7);
  EXPECT_EQ(axis.spans[3].end, 10);
}

TEST(Tagging, InWindowsAWordIsReadFarFromTheEnds) {
  std::vector<std::string> words;
  for (int i = 0; i < 9; ++i) words.push_back(i == 4 ? "Ada" : "good");
  const PieceEncoder encoder = pieces(7);  // five pieces a window, two of them shared
  const Example example = encoder.example(sentence_of(words));
  const std::vector<int64_t> tokens = numbers(example.tensors.at("tokens"));
  const std::vector<int64_t> places = numbers(example.tensors.at("words"));
  ASSERT_EQ(places.size(), 9u);
  for (size_t word = 0; word < 9; ++word)
    EXPECT_EQ(tokens[size_t(places[word])], word == 4 ? 13 : 5) << word;
  EXPECT_EQ(tokens[0], 2);
  EXPECT_EQ(tokens[7], 2) << "the second window begins with [CLS]";
  // Pieces 3 and 4 stand in the first window before its end and in the second at its beginning:
  // piece 3 at places 4 and 8, 2 and 1 away from an end.
  EXPECT_EQ(places[3], 4);
  EXPECT_EQ(places[4], 9) << "the other way round";
}

TEST(Tagging, WordsAndLetters) {
  const std::vector<Sentence> train = {sentence_of({"Ada", "was", "here"}), sentence_of({"was"})};
  const WordEncoder encoder = WordEncoder::learn(train, 2);
  EXPECT_EQ(encoder.words().size(), Vocabulary::kSpecial + 1) << "only was is frequent";
  const Example example = encoder.example(ada());
  const std::vector<int64_t> words = numbers(example.tensors.at("words"));
  EXPECT_EQ(words[0], Vocabulary::kUnknown);
  EXPECT_EQ(words[1], Vocabulary::kSpecial);
  const at::Tensor letters = example.tensors.at("letters");  // [W, L]
  EXPECT_EQ(letters.sizes(), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(letters[0][0].item<int64_t>(), encoder.letters().id("A"));
  EXPECT_EQ(letters[0][3].item<int64_t>(), Vocabulary::kPadding);
  EXPECT_EQ(letters[3][0].item<int64_t>(), Vocabulary::kUnknown) << "P was never seen";
  EXPECT_TRUE(example.truth.at("attention")[3][2].item<bool>());
  const WordEncoder again = WordEncoder::from_json(encoder.to_json(), "words.json");
  EXPECT_EQ(again.to_json(), encoder.to_json());
  EXPECT_THROW(WordEncoder::from_json({{"words", 1}}, "words.json"), Error);
  EXPECT_EQ(encoder.counts(), (std::vector<int64_t>{0, 0, 0, 0, 2}));
  EXPECT_EQ(again.counts(), encoder.counts());
  for (const Json& counts : {Json{0, 0, 0, 0}, Json{0, 0, 0, 0, -1}, Json("x")}) {
    Json damaged = encoder.to_json();
    damaged["counts"] = counts;
    expect_error(ErrorKind::BadData, "counts",
                 [&] { WordEncoder::from_json(damaged, "words.json"); });
  }
}

TEST(Tagging, WordsHaveRowsAmongVectorsOfTexts) {
  const std::vector<Sentence> train = {ada()};
  WordEncoder encoder = WordEncoder::learn(train, 1);
  EXPECT_EQ(encoder.example(ada()).tensors.count("vectors"), 0u);
  encoder.add_vectors(Vocabulary(std::vector<std::string>{"paris", "was"}));
  const WordEncoder again = WordEncoder::from_json(encoder.to_json(), "words.json");
  const Example example = again.example(ada());
  EXPECT_EQ(numbers(example.tensors.at("vectors")), (std::vector<int64_t>{1, 5, 1, 4}));
  const std::vector<int64_t> last{3};
  const Example erased = again.erase(example, last);
  EXPECT_EQ(numbers(erased.tensors.at("vectors")), (std::vector<int64_t>{1, 5, 1, 1}));
  EXPECT_EQ(numbers(example.tensors.at("vectors"))[3], 4) << "the example itself stays";
  const std::vector<Example> two = {example, again.example(sentence_of({"was"}))};
  EXPECT_EQ(numbers(again.collate(two).at("vectors")),
            (std::vector<int64_t>{1, 5, 1, 4, 5, 0, 0, 0}));
}

TEST(Tagging, LongWordsAreCut) {
  const std::string word(1000, 'x');
  const std::vector<Sentence> train = {sentence_of({word})};
  const Example example = WordEncoder::learn(train, 1).example(train[0]);
  EXPECT_EQ(example.tensors.at("letters").size(1), WordEncoder::kMostLetters);
}

TEST(Tagging, BatchesArePaddedAndMarked) {
  const std::vector<Sentence> sentences = {ada(), [] {
                                             Sentence one = sentence_of({"good"});
                                             one.tags = {2};
                                             return one;
                                           }()};
  const std::vector<std::shared_ptr<const SentenceEncoder>> encoders = {
      std::make_shared<PieceEncoder>(pieces()),
      std::make_shared<WordEncoder>(WordEncoder::learn(sentences, 1))};
  for (const auto& encoder : encoders) {
    const SentenceDataset rows(sentences, encoder, "test");
    EXPECT_TRUE(rows.has_truth());
    const Batch batch = rows.batch(std::vector<int64_t>{1, 0});
    EXPECT_EQ(numbers(batch.at("target")), (std::vector<int64_t>{2, 0, 0, 0, 1, 0, 0, 3}));
    EXPECT_EQ(batch.at("words.keep").sum().item<int64_t>(), 5);
    EXPECT_FALSE(batch.at("words.keep")[0][1].item<bool>());
    const Example own = rows.example(0);
    EXPECT_TRUE(batch.at("words")[1].equal(own.tensors.at("words")));
    EXPECT_EQ(rows.length(0), int64_t(own.axis(encoder->axis()).labels.size()));
#ifdef FOVEA_WITH_ICU
    EXPECT_EQ(rows.input(0), "Ada was in Paris");
    const SentenceDataset uncut({sentence_of({"a b", "c"})}, encoder, "test");
    EXPECT_EQ(uncut.input(0), Json::parse(R"({"words": ["a b", "c"]})")) << "else cut otherwise";
#endif
  }
}

TEST(Tagging, ASentenceWithoutWordsHasNone) {
  const Sentence empty = sentence_of({});
  for (const auto& encoder : std::vector<std::shared_ptr<const SentenceEncoder>>{
           std::make_shared<PieceEncoder>(pieces()),
           std::make_shared<WordEncoder>(Vocabulary(), Vocabulary())}) {
    const std::vector<Example> examples = {encoder->example(empty)};
    const Batch batch = encoder->collate(examples);
    EXPECT_EQ(batch.at("words").sizes(), (std::vector<int64_t>{1, 0}));
  }
}

TEST(Tagging, ErasedWordsAreUnknown) {
  const std::vector<Sentence> train = {ada()};
  const WordEncoder words = WordEncoder::learn(train, 1);
  const Example example = words.example(ada());
  const Example erased = words.erase(example, std::vector<int64_t>{0});
  EXPECT_EQ(numbers(erased.tensors.at("words"))[0], Vocabulary::kUnknown);
  EXPECT_EQ(numbers(erased.tensors.at("letters")[0]), (std::vector<int64_t>{1, 1, 1, 0, 0}));
  EXPECT_NE(numbers(example.tensors.at("words"))[0], Vocabulary::kUnknown) << "the given one stays";
  EXPECT_THROW(words.erase(example, std::vector<int64_t>{4}), Error);
  const Example masked = pieces().erase(pieces().example(ada()), std::vector<int64_t>{0, 1});
  EXPECT_EQ(numbers(masked.tensors.at("tokens"))[0], 2) << "[CLS] stays";
  EXPECT_EQ(numbers(masked.tensors.at("tokens"))[1], 4);
}

}  // namespace
}  // namespace fovea::tags::encoder_test
