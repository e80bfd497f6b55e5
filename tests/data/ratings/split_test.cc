#include "fovea/data/ratings/split.h"

#include <set>

#include "tests/data/testing.h"

namespace fovea {
namespace {

SplitReviews in_training(const std::vector<Review>& reviews) {
  SplitReviews parts;
  parts.train = reviews;
  return parts;
}

std::vector<std::string> items_of(const std::vector<Review>& reviews) {
  std::vector<std::string> items;
  for (const Review& review : reviews) items.push_back(review.user + review.item);
  return items;
}

TEST(RatingsSplit, TheLastReviewsOfAUserAreHeldOut) {
  SplitReviews parts = in_training({{"a", "4", 5, "", 40},
                                    {"a", "1", 5, "", 10},
                                    {"a", "3", 5, "", 30},
                                    {"a", "2", 5, "", 20},
                                    {"b", "1", 5, "", 3},
                                    {"b", "2", 5, "", 3},
                                    {"b", "3", 5, "", 1},
                                    {"c", "1", 5, "", 2},
                                    {"c", "2", 5, "", 1}});
  split_by_time(parts);
  EXPECT_EQ(items_of(parts.test), (std::vector<std::string>{"a4", "b2"}));
  EXPECT_EQ(items_of(parts.validation), (std::vector<std::string>{"a3"}));
  EXPECT_EQ(items_of(parts.train), (std::vector<std::string>{"a1", "a2", "b1", "b3", "c1", "c2"}));
  EXPECT_TRUE(has_note(parts.notes, "6 training, 1 validation, 2 test"));
}

TEST(RatingsSplit, TimeNeedsTimes) {
  SplitReviews parts = in_training({{"a", "1", 5, "", {}, "x.csv:2"}});
  expect_error(ErrorKind::BadData, {"x.csv:2", "no time", "data.split=random"},
               [&] { split_by_time(parts); });
}

TEST(RatingsSplit, AtRandomEveryReviewHasOnePart) {
  std::vector<Review> reviews;
  for (int i = 0; i < 50; ++i) reviews.push_back({"a", std::to_string(i), 1});
  SplitReviews parts = in_training(reviews), again = parts, other = parts;
  split_at_random(parts, {0.1, 0.2}, 3);
  EXPECT_EQ(parts.validation.size(), 5u);
  EXPECT_EQ(parts.test.size(), 10u);
  std::set<std::string> all;
  for (int part = 0; part < kSplitCount; ++part)
    for (const std::string& item : items_of(parts[part])) EXPECT_TRUE(all.insert(item).second);
  EXPECT_EQ(all.size(), 50u);
  split_at_random(again, {0.1, 0.2}, 3);
  split_at_random(other, {0.1, 0.2}, 4);
  EXPECT_EQ(items_of(again.test), items_of(parts.test));
  EXPECT_NE(items_of(other.test), items_of(parts.test));
  SplitReviews few = in_training({{"a", "1", 1}});
  expect_error(ErrorKind::BadData, {"data.test_fraction"}, [&] {
    split_at_random(few, {0.5, 0.5}, 1);
  });
}

TEST(RatingsSplit, AnOpinionCountsOnce) {
  SplitReviews parts = in_training({{"a", "1", 5}, {"a", "1", 2}, {"b", "1", 3}});
  parts.test = {{"a", "1", 1}, {"b", "2", 1}};
  EXPECT_EQ(drop_repeated(parts), 2);
  ASSERT_EQ(parts.train.size(), 2u);
  EXPECT_EQ(parts.train[0].rating, 5) << "the first";
  EXPECT_EQ(items_of(parts.test), (std::vector<std::string>{"b2"}));
}

}  // namespace
}  // namespace fovea
