// Which reviews a model learns from and which it is measured on, where the data does not say.
#pragma once

#include <cstdint>

#include "fovea/data/ratings/reader.h"

namespace fovea {

/// A user's opinion of an item counts once: the first that training, validation and test have, in
/// this order. Returns how many were left out.
int64_t drop_repeated(SplitRows<Review>& rows);

/// Cuts the training reviews by time within each user, as Tay et al. 2018: the last one is for the
/// test where the user has at least 3, the one before it for validation where there are at least 4.
/// Of equal times the later row is the later review. BadData for a review without a time.
void split_by_time(SplitRows<Review>& rows);

struct RandomShares {
  double validation = 0.1, test = 0.1;
};

/// Cuts the training reviews at random. BadData where no training review would be left.
void split_at_random(SplitRows<Review>& rows, const RandomShares& shares, uint64_t seed);

}  // namespace fovea
