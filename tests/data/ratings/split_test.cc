#include "fovea/data/ratings/split.h"

#include <set>

#include "tests/data/testing.h"

namespace fovea::split_test {
namespace {

SplitRows<Review> in_training(const std::vector<Review>& reviews) {
  SplitRows<Review> rows;
  rows.train = reviews;
  return rows;
}

std::vector<std::string> items_of(const std::vector<Review>& reviews) {
  std::vector<std::string> items;
  for (const Review& review : reviews) items.push_back(review.user + review.item);
  return items;
}

TEST(RatingsSplit, TheLastReviewsOfAUserAreHeldOut) {
  SplitRows<Review> rows = in_training({{"a", "4", 5, "", 40},
                                        {"a", "1", 5, "", 10},
                                        {"a", "3", 5, "", 30},
                                        {"a", "2", 5, "", 20},
                                        {"b", "1", 5, "", 3},
                                        {"b", "2", 5, "", 3},
                                        {"b", "3", 5, "", 1},
                                        {"c", "1", 5, "", 2},
                                        {"c", "2", 5, "", 1}});
  split_by_time(rows);
  EXPECT_EQ(items_of(rows.test), (std::vector<std::string>{"a4", "b2"}));
  EXPECT_EQ(items_of(rows.validation), (std::vector<std::string>{"a3"}));
  EXPECT_EQ(items_of(rows.train), (std::vector<std::string>{"a1", "a2", "b1", "b3", "c1", "c2"}));
  EXPECT_TRUE(has_note(rows.notes, "6 training, 1 validation, 2 test"));
}

TEST(RatingsSplit, TimeNeedsTimes) {
  SplitRows<Review> rows = in_training({{"a", "1", 5, "", {}, "x.csv:2"}});
  expect_error(ErrorKind::BadData, {"x.csv:2", "no time", "data.split=random"},
               [&] { split_by_time(rows); });
}

TEST(RatingsSplit, AtRandomEveryReviewHasOneSplit) {
  std::vector<Review> reviews;
  for (int i = 0; i < 50; ++i) reviews.push_back({"a", std::to_string(i), 1});
  SplitRows<Review> rows = in_training(reviews), again = rows, other = rows;
  split_at_random(rows, {0.1, 0.2}, 3);
  EXPECT_EQ(rows.validation.size(), 5);
  EXPECT_EQ(rows.test.size(), 10);
  std::set<std::string> all;
  for (int split = 0; split < kSplitCount; ++split)
    for (const std::string& item : items_of(rows[split])) EXPECT_TRUE(all.insert(item).second);
  EXPECT_EQ(all.size(), 50u);
  split_at_random(again, {0.1, 0.2}, 3);
  split_at_random(other, {0.1, 0.2}, 4);
  EXPECT_EQ(items_of(again.test), items_of(rows.test));
  EXPECT_NE(items_of(other.test), items_of(rows.test));
  SplitRows<Review> few = in_training({{"a", "1", 1}});
  expect_error(ErrorKind::BadData, {"data.test_fraction"}, [&] {
    split_at_random(few, {0.5, 0.5}, 1);
  });
}

TEST(RatingsSplit, AnOpinionCountsOnce) {
  SplitRows<Review> rows = in_training({{"a", "1", 5}, {"a", "1", 2}, {"b", "1", 3}});
  rows.test = {{"a", "1", 1}, {"b", "2", 1}};
  EXPECT_EQ(drop_repeated(rows), 2);
  ASSERT_EQ(rows.train.size(), 2);
  EXPECT_EQ(rows.train[0].rating, 5) << "the first";
  EXPECT_EQ(items_of(rows.test), (std::vector<std::string>{"b2"}));
}

}  // namespace
}  // namespace fovea::split_test
