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

/// Moves each training review into the part that `place` names for it, and notes the sizes.
void place_reviews(SplitReviews& parts, const std::vector<Split>& place, const std::string& how) {
  std::vector<Review> all = std::move(parts.train);
  parts.train.clear();
  for (size_t row = 0; row < all.size(); ++row) parts[place[row]].push_back(std::move(all[row]));
  parts.notes.push_back(concat("split ", how, ": ", format_count(int64_t(parts.train.size())),
                               " training, ", format_count(int64_t(parts.validation.size())),
                               " validation, ", format_count(int64_t(parts.test.size())),
                               " test reviews"));
}

}  // namespace

int64_t drop_repeated(SplitReviews& parts) {
  std::set<std::pair<std::string, std::string>> seen;
  int64_t dropped = 0;
  for (int part = 0; part < kSplitCount; ++part)
    dropped += int64_t(std::erase_if(parts[part], [&](const Review& review) {
      return !seen.emplace(review.user, review.item).second;
    }));
  return dropped;
}

void split_by_time(SplitReviews& parts) {
  std::map<std::string, std::vector<size_t>> of_user;
  for (size_t row = 0; row < parts.train.size(); ++row) {
    const Review& review = parts.train[row];
    require(review.time.has_value(), ErrorKind::BadData, review.place,
            ": has no time, which data.split=time needs; say with --columns time=NAME where it "
            "stands, or use data.split=random");
    of_user[review.user].push_back(row);
  }
  std::vector<Split> place(parts.train.size(), kTrain);
  for (auto& [user, rows] : of_user) {
    std::stable_sort(rows.begin(), rows.end(), [&](size_t left, size_t right) {
      return *parts.train[left].time < *parts.train[right].time;
    });
    if (rows.size() >= kFewestForTest) place[rows[rows.size() - 1]] = kTest;
    if (rows.size() >= kFewestForValidation) place[rows[rows.size() - 2]] = kValidation;
  }
  place_reviews(parts, place, "by time, each user's last reviews held out");
}

void split_at_random(SplitReviews& parts, const RandomShares& shares, uint64_t seed) {
  const auto rows = static_cast<int64_t>(parts.train.size());
  const auto count = [&](double share) { return std::llround(share * double(rows)); };
  const int64_t validation = count(shares.validation), test = count(shares.test);
  require(validation + test < rows, ErrorKind::BadData, "of ", rows, " reviews ", validation,
          " for validation and ", test,
          " for the test leave none to learn from; lower data.validation_fraction or "
          "data.test_fraction");
  const std::vector<int64_t> order = Random(seed).split("rating parts").permutation(rows);
  std::vector<Split> place(parts.train.size(), kTrain);
  for (int64_t i = 0; i < validation + test; ++i)
    place[size_t(order[size_t(i)])] = i < validation ? kValidation : kTest;
  place_reviews(parts, place, concat("at random with seed ", seed));
}

}  // namespace fovea
