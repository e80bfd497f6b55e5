// Synthetic reviews for the task `ratings`. Every user cares about one aspect of a thing, or a few
// (its battery, its price, …), every item has a quality in each aspect, and a rating is the mean
// quality of the item in what the user cares about. A review judges one of these aspects, "a solid
// battery", or says nothing. Who reads finds out from a user's reviews what counts for them, and
// from the reviews that others wrote of an item how it is there; who only knows the ratings has too
// few of each user to tell. The words that decide are known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/ratings/encoder.h"

namespace fovea {

struct SyntheticRatingsOptions {
  int64_t users = 800;
  int64_t items = 100;
  int64_t ratings_each = 8;  // of a user: the last is for the test, the one before for validation
  int64_t cares = 1;         // aspects that a user cares about
  double chatter = 0.2;      // share of the reviews that judge nothing
  int64_t seed = 1;
  void describe(OptionList& list);
};

struct SyntheticRatings {
  SplitRows<Review> reviews;
  RatingTruth truth;
};

/// InvalidArgument for numbers that cannot be.
SyntheticRatings draw_ratings(const SyntheticRatingsOptions& options);

}  // namespace fovea
