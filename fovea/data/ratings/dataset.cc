// The ratings of one split as rows.
#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/data/ratings/encoder.h"

namespace fovea {

RatingDataset::RatingDataset(std::span<const Review> reviews, RatingEncoder encoder,
                             std::shared_ptr<const RatingTruth> truth)
    : encoder_(std::move(encoder)), truth_(std::move(truth)) {
  const ReviewStore& store = encoder_.store();
  for (const Review& review : reviews) {
    Row row{review.user,
            review.item,
            {store.user(review.user), store.item(review.item), text_number(review.text)},
            review.rating};
    count(encoder_.histories(row.target), row);
    rows_.push_back(std::move(row));
  }
}

void RatingDataset::count(const Histories& histories, Row& row) {
  counts_.unknown_users += row.target.user == 0;
  counts_.unknown_items += row.target.item == 0;
  int64_t reviews = 0, words = 0;
  for (const History& history : histories) {
    reviews += history.cut_reviews;
    words += history.cut_words;
    row.length = std::max(row.length, history.words);
  }
  counts_.cut_rows += reviews + words > 0;
  counts_.cut_reviews += reviews;
  counts_.cut_words += words;
  counts_.without_history += encoder_.reads() && (histories[kUserSide].reviews.empty() ||
                                                  histories[kItemSide].reviews.empty());
}

Example RatingDataset::example(int64_t row) const {
  const Row& own = row_of(row);
  Example example = encoder_.example(own.target, encoder_.histories(own.target));
  example.tensors["target"] = at::scalar_tensor(own.rating, at::kFloat);
  const auto aspects = truth_->aspects.find(own.user);
  if (encoder_.reads() && aspects != truth_->aspects.end())
    encoder_.plant_truth(aspects->second, truth_->judgements, example);
  return example;
}

Batch RatingDataset::batch(std::span<const int64_t> rows) const {
  std::vector<RatingTarget> targets;
  std::vector<Histories> histories;
  std::vector<float> ratings;
  for (const int64_t row : rows) {
    targets.push_back(row_of(row).target);
    histories.push_back(encoder_.histories(targets.back()));
    ratings.push_back(float(row_of(row).rating));
  }
  Batch batch = encoder_.collate(targets, histories);
  batch.tensors["target"] = at::tensor(ratings, at::kFloat);  // [B]
  return batch;
}

}  // namespace fovea
