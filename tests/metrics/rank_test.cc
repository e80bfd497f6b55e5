#include "fovea/metrics/rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/tensor/random.h"
#include "tests/support/expect_error.h"

namespace fovea::rank_test {
namespace {

using Numbers = std::vector<double>;

/// By the definition, pair by pair.
double slow_tau(const Numbers& first, const Numbers& second) {
  double excess = 0, pairs = 0, tied_first = 0, tied_second = 0;
  const auto sign = [](double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; };
  for (size_t i = 0; i < first.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const int left = sign(first[i] - first[j]), right = sign(second[i] - second[j]);
      excess += left * right;
      pairs += 1;
      tied_first += left == 0;
      tied_second += right == 0;
    }
  return excess / std::sqrt((pairs - tied_first) * (pairs - tied_second));
}

TEST(Rank, SameAndOppositeOrder) {
  EXPECT_DOUBLE_EQ(kendall_tau(Numbers{1, 2, 3, 4}, Numbers{10, 20, 30, 40}).value(), 1);
  EXPECT_DOUBLE_EQ(kendall_tau(Numbers{1, 2, 3, 4}, Numbers{4, 3, 2, 1}).value(), -1);
  EXPECT_DOUBLE_EQ(kendall_tau(Numbers{1, 1, 2}, Numbers{5, 5, 9}).value(), 1);
}

TEST(Rank, HandComputedWithoutAndWithTies) {
  // 12 2 1 12 2 against 1 4 7 1 0: 2 pairs alike, 6 the other way round, 2 tied in the first list,
  // 1 in the second: -4 / sqrt(8 * 9).
  EXPECT_NEAR(kendall_tau(Numbers{12, 2, 1, 12, 2}, Numbers{1, 4, 7, 1, 0}).value(),
              -4 / std::sqrt(72.0), 1e-15);
  EXPECT_NEAR(kendall_tau(Numbers{1, 2, 3, 4}, Numbers{1, 3, 2, 4}).value(), 4.0 / 6, 1e-15);
}

TEST(Rank, EqualsTheDefinitionOnRandomLists) {
  const Random random(7);
  for (uint64_t trial = 0; trial < 60; ++trial) {
    const Random own = random.split(trial);
    const uint64_t size = 2 + own.below(0, 60), values = trial % 3 == 0 ? 1000000 : 2 + trial / 8;
    Numbers first, second;
    for (uint64_t i = 0; i < size; ++i) {
      first.push_back(static_cast<double>(own.split("a").below(i, values)));
      second.push_back(static_cast<double>(own.split("b").below(i, values)));
    }
    const auto tau = kendall_tau(first, second);
    const double expected = slow_tau(first, second);
    if (!std::isfinite(expected)) {
      EXPECT_FALSE(tau.has_value());
      continue;
    }
    EXPECT_NEAR(tau.value(), expected, 1e-12) << size << " numbers of " << values << " values";
  }
}

TEST(Rank, LongListsAreQuick) {
  const Random random(3);
  Numbers first, second;
  for (uint64_t i = 0; i < 200000; ++i) {
    first.push_back(random.uniform(i));
    second.push_back(first.back() * first.back());
  }
  EXPECT_DOUBLE_EQ(kendall_tau(first, second).value(), 1);
}

TEST(Rank, UndefinedWithoutAnOrder) {
  EXPECT_FALSE(kendall_tau(Numbers{}, Numbers{}).has_value());
  EXPECT_FALSE(kendall_tau(Numbers{1}, Numbers{2}).has_value());
  EXPECT_FALSE(kendall_tau(Numbers{1, 1, 1}, Numbers{1, 2, 3}).has_value());
  EXPECT_FALSE(kendall_tau(Numbers{1, 2, 3}, Numbers{0, 0, 0}).has_value());
  EXPECT_FALSE(
      kendall_tau(Numbers{1, 2}, Numbers{std::numeric_limits<double>::quiet_NaN(), 1}).has_value());
}

TEST(Rank, RefusesListsOfDifferentLength) {
  testing::expect_error(ErrorKind::InvalidArgument, {"2", "3"}, [] {
    kendall_tau(Numbers{1, 2}, Numbers{1, 2, 3});
  });
}

}  // namespace
}  // namespace fovea::rank_test
