#include "fovea/data/documents/words.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

#ifdef FOVEA_WITH_ICU

namespace fovea::documents::words_test {
namespace {

std::vector<LabelledDocument> two_texts() {
  return {{"Good film, good actors", "", 0}, {"a bad film", "", 1}};
}

BagEncoder bag_encoder(const BagDataOptions& options = {}) {
  return {std::make_shared<const Vocabulary>(
              std::vector<std::string>{"good", "film", "good film", "\tgood"}),
          options};
}

std::vector<int64_t> column(const at::Tensor& tensor, int64_t which) {
  const at::Tensor own = tensor.select(1, which).contiguous();
  return {own.data_ptr<int64_t>(), own.data_ptr<int64_t>() + own.numel()};
}

TEST(Bag, UnitsAreWordsAndBigrams) {
  BagDataOptions options;
  options.minimum_bigram_count = 1;
  const Vocabulary units = learn_units(two_texts(), 2, options);
  for (const char* unit : {"good", "film", "good film", "film ,", ", good", "bad film"})
    EXPECT_NE(units.id(unit), Vocabulary::kUnknown) << unit;
  options.bigrams = false;
  EXPECT_EQ(learn_units(two_texts(), 2, options).size(), Vocabulary::kSpecial + 6);
  options.minimum_count = 9;
  EXPECT_THROW(learn_units(two_texts(), 2, options), Error);
}

TEST(Bag, RareBigramsAreLeftOut) {
  const Vocabulary units = learn_units(two_texts(), 2, {});
  EXPECT_NE(units.id("bad"), Vocabulary::kUnknown);
  EXPECT_EQ(units.id("bad film"), Vocabulary::kUnknown);
}

TEST(Bag, SharesSumToOneForEveryUnit) {
  const Example example = bag_encoder().example({"Good film, good ones", "", -1});
  EXPECT_EQ(column(example.tensors.at("units"), 0), (std::vector<int64_t>{4, 5, 1, 4, 1}));
  EXPECT_EQ(column(example.tensors.at("units"), 1), (std::vector<int64_t>{6, 1, 1, 1, 0}));
  const at::Tensor shares = example.tensors.at("shares");
  EXPECT_EQ(shares[0][0].item<float>(), 0.5F);
  EXPECT_EQ(shares[1][0].item<float>(), 1.0F);
  EXPECT_EQ(shares[2][0].item<float>(), 0.0F) << "unknown";
  EXPECT_EQ(shares[0][1].item<float>(), 1.0F);
  EXPECT_EQ(example.axis("words").labels.size(), 5u);
}

TEST(Bag, ASecondTextHasWordsOfItsOwn) {
  const Example example = bag_encoder().example({"good", "good", -1});
  EXPECT_EQ(column(example.tensors.at("units"), 0), (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(example.axis("words").text, "good\tgood");
}

TEST(Bag, ErasingAWordErasesItsBigrams) {
  const Example example = bag_encoder().example({"good film", "", -1});
  const std::vector<int64_t> film{1};
  const at::Tensor shares = erase_bag_words(example, film).tensors.at("shares");
  EXPECT_EQ(shares[0][0].item<float>(), 1.0F);
  EXPECT_EQ(shares[0][1].item<float>(), 0.0F);
  EXPECT_EQ(shares[1][0].item<float>(), 0.0F);
  EXPECT_EQ(example.tensors.at("shares")[1][0].item<float>(), 1.0F)
      << "the given one is left alone";
  const std::vector<int64_t> beyond{2};
  EXPECT_THROW(erase_bag_words(example, beyond), Error);
}

TEST(Bag, LongTextsAreCutAndCounted) {
  BagDataOptions options;
  options.maximum_words = 2;
  const BagDataset rows({{"good film good", "", 0}, {"", "", 0}}, bag_encoder(options), "here");
  EXPECT_EQ(rows.cut_documents(), 1);
  EXPECT_EQ(rows.cut_words(), 1);
  EXPECT_EQ(rows.empty_documents(), 1);
  const std::vector<int64_t> all{0, 1};
  EXPECT_EQ(rows.batch(all).at("units").sizes(), (std::vector<int64_t>{2, 2, 2}));
}

}  // namespace
}  // namespace fovea::documents::words_test

#endif
