#include "fovea/data/documents/encoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/word_pieces.h"
#include "tests/support/expect_error.h"

namespace fovea::documents::encoder_test {
namespace {

using testing::expect_error;
using testing::word_pieces;

DocumentEncoder encoder(int64_t longest = 16, const std::string& too_long = "cut") {
  return {word_pieces(), {longest, too_long, 1}, false};
}

std::vector<int64_t> numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

TEST(Documents, AnExampleHoldsTokensSpansAndTruth) {
  const LabelledDocument document{"The films was BAD", "", 1, {{14, 17}}};
  const Example example = encoder().example(document);
  EXPECT_EQ(numbers(example.tensors.at("tokens")), (std::vector<int64_t>{2, 9, 7, 8, 10, 6, 3}));
  const Axis& axis = example.axis("tokens");
  EXPECT_EQ(axis.text, document.text);
  EXPECT_EQ(axis.spans[0].begin, -1);
  EXPECT_EQ(axis.spans[3].begin, 8);  // the s of films
  EXPECT_EQ(axis.spans[3].end, 9);
  const at::Tensor truth = example.truth.at("attention");  // [T, T]
  EXPECT_EQ(truth.sum().item<int64_t>(), 1);
  EXPECT_TRUE(truth[0][5].item<bool>()) << "[CLS] should look at BAD";
}

TEST(Documents, WindowsStandOneAfterTheOther) {
  const LabelledDocument document{"good bad film the was good bad", "", 0, {{22, 26}}};
  const Example example = encoder(5, "windows").example(document);  // three pieces a window
  EXPECT_EQ(numbers(example.tensors.at("tokens")),
            (std::vector<int64_t>{2, 5, 6, 7, 3, 2, 7, 9, 10, 3, 2, 10, 5, 6, 3}));
  const at::Tensor truth = example.truth.at("attention");
  EXPECT_EQ(truth.sum().item<int64_t>(), 1);
  EXPECT_TRUE(truth[10][12].item<bool>()) << "the [CLS] of the window that holds the word";
}

TEST(Documents, PairsHaveTwoSegments) {
  DocumentEncoder pairs = encoder();
  pairs.pairs = true;
  const Example example = pairs.example({"good", "bad film", 0, {}});
  EXPECT_EQ(numbers(example.tensors.at("tokens")), (std::vector<int64_t>{2, 5, 3, 6, 7, 3}));
  EXPECT_EQ(numbers(example.tensors.at("segments")), (std::vector<int64_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(example.axis("tokens").text, "good\nbad film");
  EXPECT_EQ(example.axis("tokens").spans[3].begin, 5);
}

TEST(Documents, ABatchIsTheExamplesSideBySide) {
  const std::vector<LabelledDocument> documents = {
      {"good film", "", 1, {}}, {"", "", 0, {}}, {"the film was bad", "", 0, {}}};
  const DocumentDataset rows(documents, encoder(), "test");
  const std::vector<int64_t> picked = {2, 0, 1};
  const Batch batch = rows.batch(picked);
  EXPECT_EQ(batch.at("tokens").sizes(), (std::vector<int64_t>{3, 6}));
  EXPECT_EQ(numbers(batch.at("target")), (std::vector<int64_t>{0, 1, 0}));
  for (int64_t i = 0; i < 3; ++i) {
    const at::Tensor own = rows.example(picked[size_t(i)]).tensors.at("tokens");
    EXPECT_EQ(rows.length(picked[size_t(i)]), own.size(0));
    EXPECT_TRUE(batch.at("tokens")[i].narrow(0, 0, own.size(0)).equal(own));
    EXPECT_EQ(batch.at("tokens.keep")[i].sum().item<int64_t>(), own.size(0));
  }
  EXPECT_FALSE(rows.has_truth());
}

TEST(Documents, WhatIsCutIsCounted) {
  const std::vector<LabelledDocument> documents = {{"good bad film the", "", 0, {}},
                                                   {"good bad", "", 0, {}}};
  const DocumentDataset cut(documents, encoder(5), "test");
  EXPECT_EQ(cut.cut_documents(), 1);
  EXPECT_EQ(cut.cut_pieces(), 1);
  EXPECT_EQ(cut.windowed_documents(), 0);
  const DocumentDataset windows(documents, encoder(5, "windows"), "test");
  EXPECT_EQ(windows.cut_documents(), 0);
  EXPECT_EQ(windows.windowed_documents(), 1);
  expect_error(ErrorKind::BadData, {"data.tsv", "text 1"},
               [&] { DocumentDataset(documents, encoder(5, "refuse"), "data.tsv"); });
}

TEST(Documents, BrokenTextIsRefusedWithItsNumber) {
  expect_error(ErrorKind::BadData, {"data.tsv", "text 2"}, [] {
    DocumentDataset({{"good", "", 0, {}}, {"b\xff\xfe", "", 0, {}}}, encoder(), "data.tsv");
  });
}

}  // namespace
}  // namespace fovea::documents::encoder_test
