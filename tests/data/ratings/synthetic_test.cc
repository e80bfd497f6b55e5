#include "fovea/data/ratings/synthetic.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/expect_error.h"

namespace fovea::ratings::synthetic_test {
namespace {

using testing::expect_error;

SyntheticRatingsOptions small() {
  SyntheticRatingsOptions options;
  options.users = 60;
  options.items = 20;
  options.ratings_each = 6;
  return options;
}

std::vector<Review> all_of(SyntheticRatings& draw) {
  std::vector<Review> all;
  draw.reviews.for_each([&](const Review& review, Split) { all.push_back(review); });
  return all;
}

TEST(SyntheticRatings, WhoReadsKnowsTheRating) {
  SyntheticRatings draw = draw_ratings(small());
  int64_t told = 0;
  for (const Review& review : all_of(draw)) {
    const std::string& aspect = draw.truth.aspects.at(review.user).at(0);
    const std::vector<ReviewWord> words = cut_review(review.text);
    for (size_t w = 0; w < words.size(); ++w) {
      if (words[w].word != aspect) continue;
      ++told;
      ASSERT_GT(w, 0u) << review.text;
      const std::string& judgement = words[w - 1].word;
      EXPECT_TRUE(draw.truth.judgements.contains(judgement)) << review.text;
      // The judgement of what the user cares about is the rating.
      const std::map<std::string, double> some = {
          {"dreadful", 1}, {"poor", 2}, {"average", 3}, {"good", 4}, {"superb", 5}};
      if (const auto known = some.find(judgement); known != some.end()) {
        EXPECT_EQ(review.rating, known->second) << review.text;
      }
    }
  }
  EXPECT_GT(told, 60 * 6 / 2);
  EXPECT_LT(told, 60 * 6) << "some reviews say nothing";
}

TEST(SyntheticRatings, SplitsAreAUsersLastReviews) {
  SyntheticRatings draw = draw_ratings(small());
  EXPECT_EQ(draw.reviews.train.size(), 60 * 4);
  EXPECT_EQ(draw.reviews.validation.size(), 60);
  EXPECT_EQ(draw.reviews.test.size(), 60);
  std::set<std::pair<std::string, std::string>> pairs;
  for (const Review& review : all_of(draw)) {
    EXPECT_TRUE(pairs.emplace(review.user, review.item).second);
    EXPECT_GE(review.rating, 1);
    EXPECT_LE(review.rating, 5);
  }
}

TEST(SyntheticRatings, SeveralAspectsAreAveraged) {
  SyntheticRatingsOptions options = small();
  options.cares = 2;
  SyntheticRatings draw = draw_ratings(options);
  bool has_half = false;
  for (const Review& review : all_of(draw))
    has_half = has_half || review.rating != double(int64_t(review.rating));
  EXPECT_TRUE(has_half);
  EXPECT_EQ(draw.truth.aspects.at("user-1").size(), 2u);
}

TEST(SyntheticRatings, TheSeedDecides) {
  const SyntheticRatings one = draw_ratings(small()), again = draw_ratings(small());
  EXPECT_EQ(one.reviews.test[7].text, again.reviews.test[7].text);
  SyntheticRatingsOptions other = small();
  other.seed = 2;
  EXPECT_NE(draw_ratings(other).reviews.test[7].text, one.reviews.test[7].text);
}

TEST(SyntheticRatings, RefusesWhatCannotBe) {
  SyntheticRatingsOptions options = small();
  options.ratings_each = 21;
  expect_error(ErrorKind::InvalidArgument, "data.ratings_each=21", [&] { draw_ratings(options); });
  options = small();
  options.cares = 4;
  expect_error(ErrorKind::InvalidArgument, "data.cares=4", [&] { draw_ratings(options); });
  options = small();
  options.users = 0;
  EXPECT_THROW(draw_ratings(options), Error);
}

}  // namespace
}  // namespace fovea::ratings::synthetic_test
