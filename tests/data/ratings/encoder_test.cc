#include "fovea/data/ratings/encoder.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

namespace fovea::ratings::encoder_test {
namespace {

const std::vector<Review> kReviews = {{"ann", "tent", 5, "light and quick", 1},
                                      {"ann", "lamp", 2, "dim", 2},
                                      {"bob", "tent", 4, "sturdy but heavy thing", 3},
                                      {"bob", "lamp", 1, "", 4},
                                      {"cyd", "tent", 3, "dim", 5},
                                      {"cyd", "rope", 4, "strong strong rope", 6}};

RatingEncoder encoder(HistoryLimits limits = {20, 3, HistoryLimits::kNone}) {
  // Histories point into the store: it lives on.
  static const auto store = std::make_shared<ReviewStore>(kReviews, 10);
  static const auto vocabulary =
      std::make_shared<const Vocabulary>(Vocabulary::from_counts(store->count_words(), 1, 0));
  store->number_words(*vocabulary);
  return {store, vocabulary, limits};
}

RatingDataset dataset(const std::vector<Review>& reviews = kReviews) {
  return {reviews, encoder(), std::make_shared<RatingTruth>()};
}

/// Every review of the example's input, as the words that stand in it.
std::vector<std::string> reviews_in(const Example& example) {
  std::vector<std::string> reviews;
  for (const std::string side : {"user", "item"}) {
    const Axis& words = example.axis(side + " words");
    for (size_t i = 0; i + 1 < words.offsets.size(); ++i)
      reviews.push_back(join(
          std::span(words.labels)
              .subspan(size_t(words.offsets[i]), size_t(words.offsets[i + 1] - words.offsets[i])),
          " "));
  }
  return reviews;
}

/// What the model would see of the text that it is to judge: the first words of a review, as many
/// as are read.
bool leaks(const std::string& text, const Example& example) {
  std::vector<std::string> words;
  for (const ReviewWord& word : cut_review(text)) words.push_back(word.word);
  words.resize(std::min<size_t>(words.size(), 3));
  const std::string seen = join(words, " ");
  const std::vector<std::string> reviews = reviews_in(example);
  return !seen.empty() && std::find(reviews.begin(), reviews.end(), seen) != reviews.end();
}

TEST(Ratings, TheReviewToBePredictedIsNeverInItsInput) {
  std::vector<Review> all = kReviews;  // training rows, and those of a test
  all.push_back({"ann", "rope", 3, "light and quick", 9});
  all.push_back({"new", "tent", 3, "sturdy but heavy thing", 9});
  const RatingDataset rows = dataset(all);
  for (int64_t row = 0; row < rows.size(); ++row) {
    const Example example = rows.example(row);
    EXPECT_FALSE(leaks(all[size_t(row)].text, example)) << row;
    const Axis& by_user = example.axis("user reviews");
    const Axis& of_item = example.axis("item reviews");
    for (const std::string& label : by_user.labels)
      EXPECT_NE(label, "on " + all[size_t(row)].item) << row;
    for (const std::string& label : of_item.labels)
      EXPECT_NE(label, "by " + all[size_t(row)].user) << row;
    // Batches are made another way; they hold the same.
    const std::vector<int64_t> one{row};
    const Batch batch = rows.batch(one);
    const RatingEncoder same = encoder();
    const Batch collated = same.collate({&example, 1});
    for (const auto& [name, tensor] : collated.tensors)
      EXPECT_TRUE(batch.at(name).equal(tensor)) << name << " of row " << row;
  }
}

TEST(Ratings, ALeakThatIsPlantedIsSeen) {
  const RatingEncoder own = encoder();
  const RatingTarget target{own.store().user("ann"), own.store().item("tent"),
                            text_number(kReviews[0].text)};
  EXPECT_FALSE(leaks(kReviews[0].text, own.example(target, own.histories(target))));
  // The same user and item, but the target passes for a review of another item without a text.
  RatingTarget disguised = target;
  disguised.item = own.store().item("rope");
  disguised.text = 0;
  EXPECT_TRUE(leaks(kReviews[0].text, own.example(disguised, own.histories(disguised))));
}

TEST(Ratings, ExamplesHoldBothSidesWithTheirReviews) {
  const Example example = dataset().example(4);  // cyd on the tent; cyd wrote on the rope
  EXPECT_EQ(example.axis("user reviews").labels, (std::vector<std::string>{"on rope"}));
  EXPECT_EQ(example.axis("user reviews").values, (std::vector<std::string>{"4"}));
  EXPECT_EQ(example.axis("item reviews").labels, (std::vector<std::string>{"by bob", "by ann"}));
  const Axis& words = example.axis("item words");
  EXPECT_EQ(words.parent, "item reviews");
  EXPECT_EQ(words.offsets, (std::vector<int64_t>{0, 3, 6}));
  EXPECT_EQ(words.labels[3], "light");
  EXPECT_EQ(words.text, "sturdy but heavy thing\nlight and quick");
  EXPECT_EQ(words.spans[3].begin, 23);
  EXPECT_EQ(example.tensors.at("item_lengths").numel(), 2);
  EXPECT_EQ(example.tensors.at("item_words").numel(), 6);
  ASSERT_EQ(example.cuts.size(), 1u) << "thing";
  EXPECT_EQ(example.cuts[0].unit, "words of the item's reviews");
  EXPECT_EQ(example.cuts[0].read, 6);
  EXPECT_EQ(example.cuts[0].of, 7);
  EXPECT_EQ(example.tensors.at("target").item<float>(), 3);
}

TEST(Ratings, LimitsKeepTheNewestAndCountTheRest) {
  const RatingTarget target{0, 1, 0};  // somebody new on the tent
  const auto item_side = [&](HistoryLimits limits) {
    const RatingEncoder own = encoder(limits);
    return own.histories(target)[kItemSide];
  };
  const History two = item_side({2, 2, HistoryLimits::kNone});
  ASSERT_EQ(two.reviews.size(), 2u);
  EXPECT_EQ(two.reviews[0].review->text, "dim");
  EXPECT_EQ(two.reviews[1].words, 2);
  EXPECT_EQ(two.cut_reviews, 1);
  EXPECT_EQ(two.cut_words, 2);
  const History document = item_side({HistoryLimits::kNone, HistoryLimits::kNone, 4});
  ASSERT_EQ(document.reviews.size(), 2u);
  EXPECT_EQ(document.words, 4);
  EXPECT_EQ(document.reviews[1].words, 3);
  EXPECT_EQ(document.cut_reviews, 1);
  const RatingEncoder tight = encoder({2, 2, HistoryLimits::kNone});
  const Example example = tight.example(target, tight.histories(target));
  ASSERT_EQ(example.cuts.size(), 2u);
  EXPECT_EQ(example.cuts[0].unit, "reviews of the item");
  EXPECT_EQ(example.cuts[0].read, 2);
  EXPECT_EQ(example.cuts[0].of, 3);
  EXPECT_EQ(example.cuts[1].unit, "words of the item's reviews");
  EXPECT_EQ(example.cuts[1].of - example.cuts[1].read, two.cut_words + two.unread_words);
}

TEST(Ratings, WhoIsNotKnownHasNothingToRead) {
  const RatingDataset rows = dataset({{"new", "unheard", 3, "words"}, {"ann", "unheard", 1, "x"}});
  EXPECT_EQ(rows.counts().unknown_users, 1);
  EXPECT_EQ(rows.counts().unknown_items, 2);
  EXPECT_EQ(rows.counts().without_history, 2);
  const Example example = rows.example(0);
  EXPECT_EQ(example.tensors.at("user").item<int64_t>(), 0);
  EXPECT_EQ(example.tensors.at("user_words").numel(), 0);
  const std::vector<int64_t> both{0, 1};
  const Batch batch = rows.batch(both);
  EXPECT_EQ(batch.at("item_words").sizes(), (std::vector<int64_t>{2, 1}))
      << "never without columns";
  EXPECT_EQ(batch.at("user_lengths").sizes(), (std::vector<int64_t>{2, 2}));
}

TEST(Ratings, WithoutReadingThereAreNumbersAlone) {
  const RatingEncoder own = encoder({0, 0, 0});
  const RatingDataset rows(kReviews, own, std::make_shared<RatingTruth>());
  EXPECT_TRUE(rows.example(0).axes.empty());
  const std::vector<int64_t> both{0, 5};
  const Batch batch = rows.batch(both);
  EXPECT_EQ(batch.tensors.size(), 3u);
  EXPECT_EQ(rows.counts().without_history, 0);
  EXPECT_THROW(own.erase(rows.example(0), "user words", {}), Error);
}

TEST(Ratings, ErasedWordsAreUnknownAndErasedReviewsAreGone) {
  const RatingEncoder own = encoder();
  const Example example = dataset().example(4);
  const std::vector<int64_t> second{1};
  const at::Tensor words = own.erase(example, "item words", second).tensors.at("item_words");
  EXPECT_EQ(words[1].item<int64_t>(), Vocabulary::kUnknown);
  EXPECT_TRUE(words[0].equal(example.tensors.at("item_words")[0]));
  const Example without = own.erase(example, "item reviews", second);
  EXPECT_EQ(without.tensors.at("item_words").narrow(0, 3, 3).abs().sum().item<int64_t>(), 0);
  EXPECT_TRUE(without.tensors.at("item_words")
                  .narrow(0, 0, 3)
                  .equal(example.tensors.at("item_words").narrow(0, 0, 3)));
  EXPECT_EQ(without.axis("item words").labels, example.axis("item words").labels);
  const std::vector<int64_t> beyond{2};
  expect_error(ErrorKind::InvalidArgument, {"there are 2"},
               [&] { own.erase(example, "item reviews", beyond); });
  expect_error(ErrorKind::Unsupported, {"'words'"}, [&] { own.erase(example, "words", second); });
}

TEST(Ratings, TruthMarksWhatTheUserCaresAbout) {
  RatingTruth truth;
  truth.aspects["cyd"] = {"heavy", "light", "rope"};
  truth.judgements = {"but", "quick", "strong"};
  const auto shared =
      std::make_shared<const RatingTruth>(RatingTruth::from_json(truth.to_json(), "dataset.json"));
  const RatingDataset rows(kReviews, encoder(), shared);
  EXPECT_TRUE(rows.has_truth());
  const Example example = rows.example(4);
  const auto marks = [&](const char* map) {
    const at::Tensor truth = example.truth.at(map);
    EXPECT_EQ(truth.size(0), 1);
    return std::vector<bool>(truth.data_ptr<bool>(), truth.data_ptr<bool>() + truth.numel());
  };
  // strong strong rope | sturdy but heavy, light and quick
  EXPECT_EQ(marks("user words"), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(marks("item words"), (std::vector<bool>{false, true, true, true, false, false}));
  EXPECT_EQ(marks("item reviews"), (std::vector<bool>{true, true}));
  EXPECT_TRUE(rows.example(0).truth.empty()) << "nothing is known of ann";
  EXPECT_THROW(RatingTruth::from_json({{"aspects", 1}}, "x"), Error);
}

}  // namespace
}  // namespace fovea::ratings::encoder_test
