#include "fovea/data/ratings/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace {

constexpr size_t kFewestForTest = 3, kFewestForValidation = 4;

/// Moves each training review to its split, and notes the sizes.
void place_reviews(SplitRows<Review>& rows, const std::vector<Split>& splits,
                   const std::string& how) {
  std::array<Rows<Review>, kSplitCount> placed =
      std::move(rows.train).split({splits.begin(), splits.end()});
  for (int split = 0; split < kSplitCount; ++split) rows[split] = std::move(placed[size_t(split)]);
  rows.notes.push_back(concat("split ", how, ": ", format_count(rows.train.size()), " training, ",
                              format_count(rows.validation.size()), " validation, ",
                              format_count(rows.test.size()), " test reviews"));
}

}  // namespace

int64_t drop_repeated(SplitRows<Review>& rows) {
  std::set<std::pair<std::string, std::string>> seen;
  int64_t dropped = 0;
  for (int split = 0; split < kSplitCount; ++split)
    dropped += int64_t(std::erase_if(rows[split].keep(), [&](const Review& review) {
      return !seen.emplace(review.user, review.item).second;
    }));
  return dropped;
}

void split_by_time(SplitRows<Review>& rows) {
  std::map<std::string, std::vector<size_t>> of_user;
  for (size_t row = 0; row < rows.train.kept().size(); ++row) {
    const Review& review = rows.train[row];
    require(review.time.has_value(), ErrorKind::BadData, review.place,
            ": has no time, which data.split=time needs; say with --columns time=NAME where it "
            "stands, or use data.split=random");
    of_user[review.user].push_back(row);
  }
  std::vector<Split> splits(size_t(rows.train.size()), kTrain);
  for (auto& [user, own] : of_user) {
    std::stable_sort(own.begin(), own.end(), [&](size_t left, size_t right) {
      return *rows.train[left].time < *rows.train[right].time;
    });
    if (own.size() >= kFewestForTest) splits[own[own.size() - 1]] = kTest;
    if (own.size() >= kFewestForValidation) splits[own[own.size() - 2]] = kValidation;
  }
  place_reviews(rows, splits, "by time, each user's last reviews held out");
}

void split_at_random(SplitRows<Review>& rows, const RandomShares& shares, uint64_t seed) {
  const int64_t all = rows.train.size();
  const auto count = [&](double share) { return std::llround(share * double(all)); };
  const int64_t validation = count(shares.validation), test = count(shares.test);
  require(validation + test < all, ErrorKind::BadData, "of ", all, " reviews ", validation,
          " for validation and ", test,
          " for the test leave none to learn from; lower data.validation_fraction or "
          "data.test_fraction");
  const std::vector<int64_t> order = Random(seed).split("rating parts").permutation(all);
  std::vector<Split> splits(size_t(rows.train.size()), kTrain);
  for (int64_t i = 0; i < validation + test; ++i)
    splits[size_t(order[size_t(i)])] = i < validation ? kValidation : kTest;
  place_reviews(rows, splits, concat("at random with seed ", seed));
}

}  // namespace fovea
