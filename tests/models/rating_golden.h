// Models of ratings against tests/golden/ratings.py.
#pragma once

#include <gtest/gtest.h>

#include "fovea/models/rating_model.h"
#include "tests/models/contract.h"

namespace fovea::testing {

inline RatingShape golden_rating_shape() {
  return {2, 2, 8, 0, 1, 5};
}

/// Ratings, their error and the gradient of every parameter.
inline void expect_golden_ratings(RatingModel& model, const Json& reference, const Json& own) {
  take_parameters(model, own["parameters"]);
  Batch batch{{}, 3};
  for (const char* name :
       {"user", "item", "user_words", "user_lengths", "item_words", "item_lengths"})
    batch.tensors[name] = tensor_of(reference[name], at::kLong);
  const at::Tensor target = tensor_of(reference["target"], at::kDouble);
  const at::Tensor ratings = model.replay(batch, {}, nullptr).squeeze(1);  // [B]
  EXPECT_LT(largest_difference(ratings, packed(own["ratings"])), 1e-10);
  const at::Tensor loss = (ratings - target).square().mean();
  EXPECT_NEAR(loss.item<double>(), own["loss"].get<double>(), 1e-10);
  loss.backward();
  expect_gradients_of(model, own["gradients"]);
}

}  // namespace fovea::testing
