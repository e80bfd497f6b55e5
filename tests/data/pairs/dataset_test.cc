#include "fovea/data/pairs/dataset.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "tests/data/blank_tokeniser.h"
#include "tests/data/testing.h"

namespace fovea::pairs::dataset_test {
namespace {

using Texts = std::vector<std::string>;

const PairTokenisers kBoth = blank_tokenisers({"a", "b", "c"}, {"x", "y"});  // ids from 4

PairDataset dataset(const std::vector<TextPair>& pairs) {
  return {encode_pairs(pairs, *kBoth.source, *kBoth.target), kBoth.source, kBoth.target};
}

std::vector<int64_t> numbers(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kLong).contiguous();
  return {flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel()};
}

using Numbers = std::vector<int64_t>;

TEST(Pairs, RowsComeBackAsTheyWereGiven) {
  const PairDataset data = dataset({{"a b", {"x", "y y"}, {}}, {"c  q", {"y x z"}, {}}});
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data.source_text(1), "c  q");
  EXPECT_EQ(data.references(0), (Texts{"x", "y y"}));
  EXPECT_EQ(data.references(1), (Texts{"y x z"}));
  EXPECT_EQ(data.input_length(1), 2);
  EXPECT_EQ(data.target_length(1), 4);
  EXPECT_EQ(data.target_ids(1), (Numbers{5, 4, 1, 3}));
  EXPECT_EQ(data.target_ids(0), (Numbers{4, 3}));
  const Example example = data.example(1);
  EXPECT_EQ(numbers(example.tensors.at("source")), (Numbers{6, 1}));
  EXPECT_EQ(example.axis("source").labels, (Texts{"c", "q"}));
  EXPECT_TRUE(example.truth.empty());
  EXPECT_FALSE(data.has_truth());
  EXPECT_EQ(data.truth(1).sizes(), (at::IntArrayRef{4, 2}));
}

TEST(Pairs, BatchesArePaddedAndMasked) {
  const PairDataset data = dataset({{"a b c", {"x"}, {}}, {"b", {"y x y"}, {}}, {"", {"x y"}, {}}});
  const Batch batch = data.batch(std::vector<int64_t>{1, 0, 1});
  EXPECT_EQ(batch.size, 3);
  EXPECT_EQ(batch.at("source").sizes(), (at::IntArrayRef{3, 3}));
  EXPECT_EQ(numbers(batch.at("source")), (Numbers{5, 0, 0, 4, 5, 6, 5, 0, 0}));
  EXPECT_EQ(numbers(batch.at("source.keep")), (Numbers{1, 0, 0, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(batch.at("target").sizes(), (at::IntArrayRef{3, 4}));
  EXPECT_EQ(numbers(batch.at("target")), (Numbers{5, 4, 5, 3, 4, 3, 0, 0, 5, 4, 5, 3}));
  EXPECT_EQ(numbers(batch.at("target.keep")), (Numbers{1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(batch.at("source.keep").scalar_type(), at::kBool);
  EXPECT_EQ(batch.at("source").scalar_type(), at::kLong);
}

TEST(Pairs, AnEmptySourceStillHasAColumn) {
  const PairDataset data = dataset({{"", {"x"}, {}}});
  const Batch batch = data.batch(std::vector<int64_t>{0});
  EXPECT_EQ(batch.at("source").sizes(), (at::IntArrayRef{1, 1}));
  EXPECT_EQ(numbers(batch.at("source.keep")), (Numbers{0}));
  EXPECT_EQ(data.example(0).tensors.at("source").numel(), 0);
  EXPECT_EQ(data.batch({}).size, 0);
}

TEST(Pairs, TruthFollowsTheLinks) {
  // "a b c" -> "y x": y comes from c, x from a and b; nothing is known of the second pair.
  const PairDataset data = dataset(
      {{"a b c", {"y x"}, {{0, 1, 4, 5}, {2, 3, 0, 3}}}, {"a", {"x y"}, {}}, {"a", {""}, {}}});
  ASSERT_TRUE(data.has_truth());
  const at::Tensor truth = data.example(0).truth.at("attention");
  EXPECT_EQ(truth.sizes(), (at::IntArrayRef{3, 3}));
  EXPECT_EQ(numbers(truth), (Numbers{0, 0, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(data.example(1).truth.empty());
  EXPECT_EQ(numbers(data.truth(1)), (Numbers{0, 0, 0}));
  EXPECT_EQ(numbers(data.truth(2)), (Numbers{0}));
}

/// Links become pairs of words, whatever the tokens are; possible ones stay apart from sure ones.
TEST(Pairs, AlignmentsAreOfWords) {
  const PairDataset data = dataset(
      {{"a bc  d", {"x yz"}, {{0, 1, 2, 4}, {2, 3, 0, 1, true}, {3, 4, 6, 7}}}, {"a", {"x"}, {}}});
  const NamedTensors known = data.planted_truth(0);
  EXPECT_EQ(known.at("alignment.sure").sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(numbers(known.at("alignment.sure")), (Numbers{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(numbers(known.at("alignment.possible")), (Numbers{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(known.at("alignment.source").size(0), data.input_length(0));
  EXPECT_EQ(known.at("alignment.target").size(0), data.target_length(0) - 1);
  EXPECT_EQ(known.at("alignment.source").max().item<int64_t>(), 2);
  EXPECT_EQ(known.at("attention").sizes(),
            (at::IntArrayRef{data.target_length(0), data.input_length(0)}));
  EXPECT_TRUE(data.planted_truth(1).empty());
  NamedTensors arrays = data.arrays();
  ASSERT_EQ(numbers(arrays.at("links.possible")), (Numbers{0, 1, 0}));
  arrays["links.possible"] = at::zeros({2}, at::kByte);
  expect_error(ErrorKind::BadData, "links.possible",
               [&] { PairDataset(arrays, kBoth.source, kBoth.target); });
}

TEST(Pairs, ATokenIsHitWhenItSharesAByte) {
  const PairDataset data = dataset({{"abc d", {"xy z"}, {{1, 3, 2, 4}, {3, 3, 0, 5}}}});
  // The first link touches the last byte of xy and of abc and the blanks behind; an empty one
  // touches nothing.
  EXPECT_EQ(numbers(data.truth(0)), (Numbers{1, 0, 0, 0, 0, 0}));
}

TEST(Pairs, LabelsAreTheTextAsItIsWritten) {
  const std::string hebrew = "שלום עולם", combining = "e\u0301t\u0323e\u0301 n\u0303";
  for (const std::string& text : {hebrew, combining}) {
    const size_t blank = text.find(' ');
    const Texts labels{text.substr(0, blank), text.substr(blank + 1)};
    const PairDataset data = dataset({{text, {text}, {{0, int64_t(blank), 0, int64_t(blank)}}}});
    EXPECT_EQ(data.example(0).axis("source").labels, labels);
    EXPECT_EQ(encode_source(*kBoth.source, text).axis("source").labels, labels);
    EXPECT_EQ(data.references(0)[0], text);
    EXPECT_EQ(numbers(data.truth(0)), (Numbers{1, 0, 0, 0, 0, 0}));
  }
}

TEST(Pairs, WhiteSpaceHasAVisibleLabel) {
  class Bytes : public BlankTokeniser {
   public:
    using BlankTokeniser::BlankTokeniser;
    std::vector<Token> encode(std::string_view text) const override {
      std::vector<Token> tokens;
      for (size_t i = 0; i < text.size(); ++i) tokens.push_back({1, "", i, i + 1});
      return tokens;
    }
  };
  EXPECT_EQ(encode_source(Bytes(Texts()), "a b").axis("source").labels,
            (Texts{"a", "\u2581", "b"}));
}

TEST(Pairs, UserTextsAreCollatedLikeRows) {
  const PairDataset data = dataset({{"a b c", {"x"}, {}}, {"b", {"x"}, {}}});
  const std::vector<Example> examples{encode_source(*kBoth.source, "a b c"), data.example(1),
                                      encode_source(*kBoth.source, "")};
  const Batch batch = collate_sources(std::span(examples).first(2));
  const Batch rows = data.batch(std::vector<int64_t>{0, 1});
  EXPECT_TRUE(at::equal(batch.at("source"), rows.at("source")));
  EXPECT_TRUE(at::equal(batch.at("source.keep"), rows.at("source.keep")));
  EXPECT_FALSE(batch.has("target"));
  EXPECT_EQ(collate_sources(std::span(examples).last(1)).at("source").size(1), 1);
  expect_error(ErrorKind::InvalidArgument, "'source'",
               [] { collate_sources(std::vector<Example>(1)); });
}

TEST(Pairs, KeepSeesBothLengthsAndDropsRowsWhole) {
  const std::vector<TextPair> pairs{{"a b", {"x"}, {{0, 1, 0, 1}}},
                                    {"a", {"x y", "y"}, {{0, 1, 0, 1}}},
                                    {"b", {"y"}, {{0, 1, 0, 1}}}};
  std::vector<std::pair<int64_t, int64_t>> lengths;
  const PairDataset data(encode_pairs(pairs, *kBoth.source, *kBoth.target,
                                      [&](int64_t source, int64_t target) {
                                        lengths.emplace_back(source, target);
                                        return target == 1;
                                      }),
                         kBoth.source, kBoth.target);
  EXPECT_EQ(lengths, (std::vector<std::pair<int64_t, int64_t>>{{2, 1}, {1, 2}, {1, 1}}));
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(data.source_text(1), "b");
  EXPECT_EQ(data.references(1), (Texts{"y"}));
  EXPECT_EQ(numbers(data.truth(1)), (Numbers{1, 0}));
}

TEST(Pairs, WhatCannotBeEncoded) {
  expect_error(ErrorKind::InvalidArgument, {"pair 2", "no target"}, [] {
    dataset({{"a", {"x"}, {}}, {"a", {}, {}}});
  });
  for (const Link& link :
       {Link{0, 2, 0, 1}, Link{0, 1, 0, 2}, Link{-1, 1, 0, 1}, Link{1, 0, 0, 1}, Link{0, 1, 1, 0}})
    expect_error(ErrorKind::InvalidArgument, {"pair 1", "leaves the texts"}, [&] {
      dataset({{"a", {"x"}, {link}}});
    });
  const PairDataset data = dataset({{"a", {"x"}, {}}});
  for (const int64_t row : {-1, 1}) {
    expect_error(ErrorKind::InvalidArgument, "does not exist", [&] { data.example(row); });
    expect_error(ErrorKind::InvalidArgument, "does not exist",
                 [&] { data.batch(std::vector<int64_t>{row}); });
    expect_error(ErrorKind::InvalidArgument, "does not exist", [&] { data.references(row); });
    expect_error(ErrorKind::InvalidArgument, "does not exist", [&] { data.source_text(row); });
    expect_error(ErrorKind::InvalidArgument, "does not exist", [&] { data.target_ids(row); });
    expect_error(ErrorKind::InvalidArgument, "does not exist", [&] { data.truth(row); });
  }
}

/// One wrong number or array each; all of them are refused by the constructor.
TEST(Pairs, ArraysThatDoNotFitTogether) {
  const NamedTensors good = encode_pairs(
      std::vector<TextPair>{{"a b", {"x", "é"}, {{0, 1, 0, 1}}}, {"ü", {"y"}, {{0, 1, 0, 2}}}},
      *kBoth.source, *kBoth.target);
  const auto refused = [&](const std::string& name, const at::Tensor& array, const char* says) {
    NamedTensors arrays = good;
    if (array.defined())
      arrays[name] = array;
    else
      arrays.erase(name);
    expect_error(ErrorKind::BadData, {name, says},
                 [&] { PairDataset(arrays, kBoth.source, kBoth.target); });
  };
  PairDataset(good, kBoth.source, kBoth.target);
  for (const auto& [name, array] : good) {
    refused(name, {}, "missing");
    refused(name, array.to(at::kFloat), "must be");
    refused(name, array.unsqueeze(0), "must be");
  }
  const auto longs = [](const Numbers& list) { return at::tensor(list, at::kLong); };
  const auto ints = [](const Numbers& list) { return at::tensor(list, at::kInt); };
  for (const char* name : {"source.offsets", "target.offsets", "references.offsets",
                           "source.text_offsets", "references.text_offsets", "links.offsets"}) {
    const Numbers right = numbers(good.at(name));
    Numbers wrong = right;
    wrong.back() += 1;
    refused(name, longs(wrong), "end at");
    wrong = right, wrong.front() = -1;
    refused(name, longs(wrong), "begin at 0");
    wrong = right, wrong[1] = right.back() + 5;
    refused(name, longs(wrong), "falls");
    wrong = right, wrong[1] = -7;
    refused(name, longs(wrong), "falls");
    refused(name, longs({}), "expected");
  }
  refused("target.offsets", longs({0, 1, 1, 2}), "expected 3");
  refused("references.offsets", longs({0, 0, 3}), "no text");
  refused("source.ids", ints({4, 7, 1}), "vocabulary has 7");
  refused("source.ids", ints({4, -1, 1}), "vocabulary has 7");
  refused("target.ids", ints({4, 6}), "vocabulary has 6");
  refused("source.spans", ints({0, 1, 2, 4, 0, 2}).view({3, 2}), "2-4");
  refused("source.spans", ints({0, 1, 3, 2, 0, 2}).view({3, 2}), "3-2");
  refused("source.spans", ints({0, 1, 2, 3, 0, 1}).view({3, 2}), "0-1");  // half of an ü
  refused("source.spans", ints({-1, 1, 2, 3, 0, 2}).view({3, 2}), "-1-1");
  refused("source.spans", ints({0, 1, 2, 3}).view({2, 2}), "different sizes");
  refused("target.spans", ints({0, 1, 0, 3}).view({2, 2}), "0-3");
  refused("links", longs({0, 1, 0, 1, 0, 2, 0, 2}).view({2, 4}), "leave the texts");
  refused("links", longs({0, 1, 0, 1, 0, 1, -1, 2}).view({2, 4}), "leave the texts");
  at::Tensor text = good.at("source.text").clone();
  text.data_ptr<uint8_t>()[4] = 'u';
  refused("source.text", text, "UTF-8");
  text = good.at("references.text").clone();
  text.data_ptr<uint8_t>()[1] = 0xFF;
  refused("references.text", text, "UTF-8");
}

}  // namespace
}  // namespace fovea::pairs::dataset_test
