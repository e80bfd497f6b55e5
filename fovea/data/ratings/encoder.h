// A user, an item, and what both are known by: the other reviews of that user and of that item, as
// the models of the task `ratings` take them in. Tensors of one rating to be predicted, and in a
// batch [B, …] with 0 behind the shorter ones:
//   user, item     numbers, [] (store.h); 0 is one that training never saw
//   user_words     [K]: the numbers of all words of the user's reviews, review after review
//   user_lengths   [R]: how many of them each review has; item_words and item_lengths likewise
//   target         [], where the rating is known
// Axes: "user reviews" and "user words", "item reviews" and "item words". A model that reads
// nothing gets the first two and the last.
//
// The review to be predicted is never part of its own input. Inputs are made of training reviews
// alone, and of these every review of the same user on the same item is left out, and every review
// with the same text (people post one text under several variants of an item).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/ratings/store.h"

namespace fovea {

enum ReviewSide { kUserSide, kItemSide, kReviewSides };
constexpr const char* kSideNames[kReviewSides] = {"user", "item"};

/// How much of a history is read, the newest reviews first.
struct HistoryLimits {
  static constexpr int64_t kNone = int64_t{1} << 40;
  int64_t reviews = kNone;         // of a side; 0: nothing is read
  int64_t words = kNone;           // of a review
  int64_t document_words = kNone;  // of all reviews of a side
};

/// What one side is known by: reviews, and how many words of each are read.
struct HistoryReview {
  const StoredReview* review = nullptr;
  int64_t words = 0;
};
struct History {
  std::vector<HistoryReview> reviews;
  int64_t words = 0;
  int64_t cut_reviews = 0, cut_words = 0;  // beyond the limits
  int64_t unread_words = 0;                // of the reviews that were cut
};
using Histories = std::array<History, kReviewSides>;

/// A rating to be predicted. A text of number 0 is none.
struct RatingTarget {
  int64_t user = 0, item = 0;
  uint64_t text = 0;
};

/// Planted truth: what each user cares about, and the words that judge. Decisive are the names of
/// these aspects, and in reviews of the item the judgement in front of such a name.
struct RatingTruth {
  std::map<std::string, std::vector<std::string>> aspects;  // by user
  std::set<std::string> judgements;

  bool empty() const { return aspects.empty(); }
  Json to_json() const;
  /// BadData, beginning with `where`.
  static RatingTruth from_json(const Json& json, const std::string& where);
};

/// Turns targets into tensors.
class RatingEncoder {
 public:
  RatingEncoder(std::shared_ptr<const ReviewStore> store,
                std::shared_ptr<const Vocabulary> vocabulary, HistoryLimits limits);

  const ReviewStore& store() const { return *store_; }
  const HistoryLimits& limits() const { return limits_; }
  bool reads() const { return limits_.reviews > 0; }

  Histories histories(const RatingTarget& target) const;
  /// Reviews that were given with an input instead; they must outlive the history.
  History history_of(std::span<const StoredReview> reviews) const;
  /// A review whose words have numbers. Its rating is NaN where it is not known.
  StoredReview review_of(const std::string& text, double rating) const;

  Example example(const RatingTarget& target, const Histories& histories) const;
  /// `aspects` are those that the target's user cares about.
  void plant_truth(const std::vector<std::string>& aspects, const std::set<std::string>& judgements,
                   Example& example) const;
  /// Tensors of the batch from histories, side by side.
  Batch collate(std::span<const RatingTarget> targets, std::span<const Histories> histories) const;
  Batch collate(std::span<const Example> examples) const;

  /// Words become the unknown one; the words of a review that is taken away, none at all.
  /// Unsupported for other axes.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const;

 private:
  void add_side(ReviewSide side, const History& history, Example& example) const;

  std::shared_ptr<const ReviewStore> store_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  HistoryLimits limits_;
};

/// What a data set lost to the limits, and what it does not know.
struct RatingCounts {
  int64_t cut_rows = 0, cut_reviews = 0, cut_words = 0;
  int64_t unknown_users = 0, unknown_items = 0;  // rows
  int64_t without_history = 0;                   // rows in which a side has nothing to read
};

class RatingDataset : public Dataset {
 public:
  RatingDataset(std::span<const Review> reviews, RatingEncoder encoder,
                std::shared_ptr<const RatingTruth> truth);

  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  /// Words of the longer side.
  int64_t length(int64_t row) const override { return row_of(row).length; }
  Example example(int64_t row) const override;
  Batch batch(std::span<const int64_t> rows) const override;

  Json input(int64_t row) const override {
    return {{"user", row_of(row).user}, {"item", row_of(row).item}};
  }
  bool has_truth() const override { return encoder_.reads() && !truth_->empty(); }
  const RatingCounts& counts() const { return counts_; }

 private:
  struct Row {
    std::string user, item;
    RatingTarget target;
    double rating = 0;
    int64_t length = 1;
  };
  const Row& row_of(int64_t row) const { return rows_.at(size_t(row)); }
  void count(const Histories& histories, Row& row);

  RatingEncoder encoder_;
  std::shared_ptr<const RatingTruth> truth_;
  std::vector<Row> rows_;
  RatingCounts counts_;
};

}  // namespace fovea
