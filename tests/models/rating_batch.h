// Small batches of ratings with reviews, for the tests of models that read them.
#pragma once

#include "fovea/models/rating_model.h"

namespace fovea::testing {

constexpr int64_t kRatingWords = 9, kReviewWords = 4;

inline RatingShape rating_shape() {
  return {4, 3, kRatingWords, 3.2, 1, 5, 12};
}

/// Reviews of random words: up to 3 by each user, up to 4 of each item, up to 4 words long. `extra`
/// columns of padding.
inline Batch rating_batch(int64_t rows, int64_t extra = 0) {
  const Random random(11);
  Batch batch{{}, rows};
  batch.tensors["user"] = torch::arange(rows) % 4 + 1;
  batch.tensors["item"] = torch::arange(rows) % 3 + 1;
  batch.tensors["target"] = random.split("target").uniform_tensor({rows}, 1, 5, at::kFloat);
  uint64_t draw = 0;
  const std::map<std::string, int64_t> most_reviews = {{"user", 3}, {"item", 4}};
  for (const auto& [side, most] : most_reviews) {
    const at::Tensor lengths = torch::zeros({rows, most + extra}, at::kLong);
    const at::Tensor words = torch::zeros({rows, most * kReviewWords + extra}, at::kLong);
    int64_t longest = 0;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t place = 0;
      const auto reviews = 1 + int64_t(random.below(draw++, uint64_t(most)));
      for (int64_t review = 0; review < reviews; ++review) {
        const auto length = 1 + int64_t(random.below(draw++, uint64_t(kReviewWords)));
        lengths[row][review] = length;
        for (int64_t word = 0; word < length; ++word)
          words[row][place++] = 1 + int64_t(random.below(draw++, uint64_t(kRatingWords - 1)));
      }
      longest = std::max(longest, place);
    }
    batch.tensors[side + "_lengths"] = lengths;
    batch.tensors[side + "_words"] = words.narrow(1, 0, longest + extra).contiguous();
  }
  return batch;
}

/// The row's side without a single review.
inline Batch without_reviews(Batch batch, int64_t row, const std::string& side) {
  for (const std::string what : {"_words", "_lengths"}) {
    batch.tensors[side + what] = batch.at(side + what).clone();
    batch.tensors[side + what][row].zero_();
  }
  return batch;
}

}  // namespace fovea::testing
