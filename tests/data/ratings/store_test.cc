#include "fovea/data/ratings/store.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

namespace fovea::ratings::store_test {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const ReviewWord& word : cut_review(text)) words.push_back(word.word);
  return words;
}

ReviewStore small(int64_t longest = 3) {
  const std::vector<Review> reviews = {{"ann", "tent", 5, "One two, three four five.", 1},
                                       {"bob", "tent", 2, "", 9},
                                       {"ann", "lamp", 4, "Two TWO", 5}};
  return {reviews, longest};
}

TEST(RatingsStore, WordsAreLowerCaseAndKnowTheirPlace) {
  EXPECT_EQ(words_of("It's GREAT -- 10/10 !!"),
            (std::vector<std::string>{"it", "s", "great", "10", "10"}));
  const std::vector<ReviewWord> words = cut_review("so, NICE");
  EXPECT_EQ(words[1].span.begin, 4);
  EXPECT_EQ(words[1].span.end, 8);
  EXPECT_TRUE(words_of(" ... !").empty());
  EXPECT_TRUE(words_of("").empty());
  expect_error(ErrorKind::BadData, {"UTF-8"}, [] { cut_review("a\xff"); });
}

#ifdef FOVEA_WITH_ICU
TEST(RatingsStore, EmojiAreWords) {
  EXPECT_FALSE(words_of("😀😀 👍").empty());
  EXPECT_EQ(words_of("Çà va"), (std::vector<std::string>{"ca", "va"}));
}
#endif

TEST(RatingsStore, HistoriesBeginWithTheNewest) {
  const ReviewStore store = small();
  EXPECT_EQ(store.users(), 2);
  EXPECT_EQ(store.items(), 2);
  EXPECT_EQ(store.user("nobody"), 0);
  EXPECT_TRUE(store.of_user(0).empty());
  const auto of_ann = store.of_user(store.user("ann"));
  ASSERT_EQ(of_ann.size(), 2u);
  EXPECT_EQ(store.item_name(store.review(of_ann[0]).item), "lamp");
  EXPECT_EQ(store.item_name(store.review(of_ann[1]).item), "tent");
  EXPECT_EQ(store.of_item(store.item("tent")).size(), 2u);
}

TEST(RatingsStore, TextsEndAfterTheLongest) {
  const ReviewStore store = small();
  const StoredReview& first = store.review(store.of_user(store.user("ann"))[1]);
  EXPECT_EQ(first.text, "One two, three");
  EXPECT_EQ(first.cut, 2);
  EXPECT_EQ(first.number, text_number(" One two, three four five. ")) << "of the whole text";
  EXPECT_EQ(store.count_words().at("two"), 3);
  EXPECT_EQ(small(0).review(0).text, "") << "nothing is read";
}

TEST(RatingsStore, TensorsGiveItBack) {
  const ReviewStore store = small();
  ReviewStore again = ReviewStore::from_tensors(store.to_tensors(), "x");
  again.number_words(Vocabulary({"two", "one"}));
  ASSERT_EQ(again.size(), store.size());
  for (int64_t i = 0; i < store.size(); ++i) {
    EXPECT_EQ(again.review(i).text, store.review(i).text);
    EXPECT_EQ(again.review(i).rating, store.review(i).rating);
    EXPECT_EQ(again.review(i).number, store.review(i).number);
    EXPECT_EQ(again.review(i).user, store.review(i).user);
  }
  EXPECT_EQ(again.user("bob"), store.user("bob"));
  EXPECT_EQ(again.review(again.of_user(1)[1]).words, (std::vector<int64_t>{5, 4, 1}));
}

TEST(RatingsStore, TensorsThatDoNotFitAreRefused) {
  const auto good = small().to_tensors();
  const auto refused = [&](const std::string& name, const at::Tensor& tensor) {
    auto tensors = good;
    tensors[name] = tensor;
    expect_error(ErrorKind::BadData, {"x.safetensors"},
                 [&] { ReviewStore::from_tensors(tensors, "x.safetensors"); });
  };
  refused("review.user", at::tensor({1, 2, 3}, at::kLong));
  refused("review.item", at::tensor({1, 0, 1}, at::kLong));
  refused("review.user", at::tensor({1, 2}, at::kLong));
  refused("review.rating", at::tensor({1, 2, 3}, at::kLong));
  refused("texts.ends", at::tensor({5, 3, 8}, at::kLong));
  refused("texts.ends", at::tensor({5, 6, 99999999}, at::kLong));
  refused("users", at::full({6}, 255, at::kByte));
  auto missing = good;
  missing.erase("texts");
  expect_error(ErrorKind::BadData, {"'texts'", "missing"},
               [&] { ReviewStore::from_tensors(missing, "x"); });
}

}  // namespace
}  // namespace fovea::ratings::store_test
