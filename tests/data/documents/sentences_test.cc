#include "fovea/data/documents/sentences.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

#ifdef FOVEA_WITH_ICU

namespace fovea::sentences_test {
namespace {

using Words = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

HierarchicalDataOptions options() {
  HierarchicalDataOptions own;
  own.minimum_count = 1;
  return own;
}

/// good 4, bad 5, film 6, the 7, it 8, "." 9.
HierarchicalEncoder encoder(const HierarchicalDataOptions& own = options()) {
  return {std::make_shared<const Vocabulary>(Words{"good", "bad", "film", "the", "it", "."}), own};
}

Numbers numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

TEST(Hierarchical, CutsSentencesAndWordsWithTheirPlaces) {
  const CutDocument cut = cut_document("Très good! It isn't.  The film…", options());
  EXPECT_EQ(cut.words, (Words{"Très", "good", "!", "It", "isn't", ".", "The", "film", "…"}));
  EXPECT_EQ(cut.offsets, (Numbers{0, 3, 6, 9}));
  EXPECT_EQ(cut.spans[0].end, 4) << "code points, not bytes";
  EXPECT_EQ(cut.spans[3].begin, 11);
  EXPECT_EQ(cut.spans[7].begin, 26);
}

TEST(Hierarchical, ParagraphMarksEndSentencesAndAreNoWords) {
  const CutDocument cut =
      cut_document("no stop <p> it goes on. <BR /><br>then 3 < 4 ends</p>", options());
  EXPECT_EQ(cut.words,
            (Words{"no", "stop", "it", "goes", "on", ".", "then", "3", "<", "4", "ends"}));
  EXPECT_EQ(cut.offsets, (Numbers{0, 2, 6, 11}));
  EXPECT_EQ(cut.spans[2].begin, 12);
  EXPECT_EQ(cut_document("<p>", options()).sentences(), 0);
}

TEST(Hierarchical, OddTextsAreTextsToo) {
  EXPECT_EQ(cut_document("", options()).sentences(), 0);
  EXPECT_EQ(cut_document(" \t\n ", options()).sentences(), 0);
  EXPECT_EQ(cut_document("word", options()).offsets, (Numbers{0, 1}));
  const CutDocument emoji = cut_document("😀😀 👩‍👩‍👧", options());
  EXPECT_EQ(emoji.words, (Words{"😀", "😀", "👩‍👩‍👧"}));
  EXPECT_EQ(emoji.spans[2].begin, 3);
  EXPECT_EQ(emoji.spans[2].end, 8);
  expect_error(ErrorKind::BadData, "UTF-8", [] { cut_document("a\xff", options()); });
}

TEST(Hierarchical, LongSentencesAreReadAsSeveralAndLongTextsCut) {
  HierarchicalDataOptions tight = options();
  tight.maximum_words = 3;
  tight.maximum_sentences = 3;
  const CutDocument cut = cut_document("One two three four five. Six seven. Eight nine ten.",
                                       tight);  // 6, 3 and 4 words
  EXPECT_EQ(cut.offsets, (Numbers{0, 3, 6, 9}));
  EXPECT_EQ(cut.split_sentences, 2);
  EXPECT_EQ(cut.cut, 4);
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "word ";
  const CutDocument whole = cut_document(text, options());
  EXPECT_EQ(whole.sentences(), 200);
  EXPECT_EQ(whole.words.size(), 20000u);
  EXPECT_EQ(whole.cut, 80000);
}

TEST(Hierarchical, WordsAreLearnedByFrequency) {
  const Words texts = {"The the film. É é", "the film", "once"};
  HierarchicalDataOptions own = options();
  own.minimum_count = 2;
  const Vocabulary lower = learn_words(texts, own);
  EXPECT_EQ(lower.to_json(), (Json{"the", "film", "é"}));
  own.vocabulary_size = 2;
  EXPECT_EQ(learn_words(texts, own).to_json(), (Json{"the", "film"}));
  own.lowercase = false;
  own.vocabulary_size = 0;
  EXPECT_EQ(learn_words(texts, own).to_json(), (Json{"film", "the"}));
  own.minimum_count = 9;
  expect_error(ErrorKind::BadData, "minimum_count", [&] { learn_words(texts, own); });
}

TEST(Hierarchical, AnExampleHoldsWordsSentencesAxesAndTruth) {
  const LabelledDocument document{"The film. It was BAD.", "", 1, {{17, 20}}};
  const Example example = encoder().example(document);
  EXPECT_EQ(numbers(example.tensors.at("words")), (Numbers{7, 6, 9, 8, 1, 5, 9}));
  EXPECT_EQ(numbers(example.tensors.at("sentences")), (Numbers{3, 4}));
  const Axis &words = example.axis("words"), &sentences = example.axis("sentences");
  EXPECT_EQ(words.kind, "word");
  EXPECT_EQ(words.parent, "sentences");
  EXPECT_EQ(words.offsets, (Numbers{0, 3, 7}));
  EXPECT_EQ(words.text, document.text);
  EXPECT_EQ(words.labels[5], "BAD");
  EXPECT_EQ(words.spans[5].begin, 17);
  EXPECT_EQ(sentences.labels.size(), 2u);
  EXPECT_EQ(sentences.spans[1].begin, 10);
  EXPECT_EQ(sentences.spans[1].end, 21);
  EXPECT_EQ(example.axis("document").labels.size(), 1u);
  const at::Tensor of_words = example.truth.at("words");  // [S, W]
  EXPECT_EQ(of_words.sizes(), (Numbers{2, 7}));
  EXPECT_EQ(of_words.sum().item<int64_t>(), 1);
  EXPECT_TRUE(of_words[1][5].item<bool>());
  EXPECT_TRUE(example.truth.at("sentences").equal(at::tensor({0, 1}).to(at::kBool).view({1, 2})));
}

TEST(Hierarchical, ABatchIsTheExamplesSideBySide) {
  const std::vector<LabelledDocument> documents = {
      {"good film", "", 1}, {" ", "", 0}, {"It was bad. The film.", "", 0}};
  const HierarchicalDataset rows(documents, encoder(), "test");
  const Numbers picked = {2, 0, 1};
  const Batch batch = rows.batch(picked);
  EXPECT_EQ(batch.at("words").sizes(), (Numbers{3, 7}));
  EXPECT_EQ(batch.at("sentences").sizes(), (Numbers{3, 2}));
  EXPECT_EQ(numbers(batch.at("target")), (Numbers{0, 1, 0}));
  std::vector<Example> examples;
  for (const int64_t row : picked) examples.push_back(rows.example(row));
  const Batch collated = collate_documents(examples);
  for (const char* name : {"words", "words.keep", "sentences", "sentences.keep"})
    EXPECT_TRUE(collated.at(name).equal(batch.at(name))) << name;
  EXPECT_EQ(rows.length(2), 7);
  EXPECT_EQ(rows.length(1), 1) << "no row costs nothing";
  EXPECT_EQ(rows.empty_documents(), 1);
  EXPECT_NEAR(rows.unknown_share(), 1.0 / 9, 1e-12);
  EXPECT_FALSE(rows.has_truth());
}

TEST(Hierarchical, WhatIsCutIsCountedAndBrokenTextNamed) {
  HierarchicalDataOptions tight = options();
  tight.maximum_sentences = 1;
  const HierarchicalDataset rows({{"good film. It was bad.", "", 0}, {"good", "", 1}},
                                 encoder(tight), "test");
  EXPECT_EQ(rows.cut_documents(), 1);
  EXPECT_EQ(rows.cut_words(), 4);
  ASSERT_EQ(rows.example(0).cuts.size(), 1u);
  EXPECT_EQ(rows.example(0).cuts[0].of - rows.example(0).cuts[0].read, 4);
  expect_error(ErrorKind::BadData, {"data.tsv", "text 2"}, [] {
    HierarchicalDataset({{"good", "", 0}, {"b\xff\xfe", "", 0}}, encoder(), "data.tsv");
  });
}

TEST(Hierarchical, ErasedWordsAreUnknown) {
  const Example example = encoder().example({"good film. It was bad.", "", 1});
  const Numbers some = {0, 5}, second = {1};
  EXPECT_EQ(numbers(erase_words(example, "words", some).tensors.at("words")),
            (Numbers{1, 6, 9, 8, 1, 1, 9}));
  EXPECT_EQ(numbers(erase_words(example, "sentences", second).tensors.at("words")),
            (Numbers{4, 6, 9, 1, 1, 1, 1}));
  EXPECT_EQ(numbers(example.tensors.at("words"))[0], 4) << "the example itself stays";
  const Numbers beyond = {7}, third = {2};
  EXPECT_THROW(erase_words(example, "words", beyond), Error);
  EXPECT_THROW(erase_words(example, "sentences", third), Error);
  expect_error(ErrorKind::Unsupported, "document",
               [&] { erase_words(example, "document", second); });
}

}  // namespace
}  // namespace fovea::sentences_test

#endif
