#include "fovea/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace fovea::batches_test {
namespace {

using Batches = std::vector<std::vector<int64_t>>;

/// Rows that have nothing but a length.
class Lengths : public Dataset {
 public:
  explicit Lengths(std::vector<int64_t> lengths) : lengths_(std::move(lengths)) {}
  int64_t size() const override { return static_cast<int64_t>(lengths_.size()); }
  Example example(int64_t) const override { return {}; }
  Batch batch(std::span<const int64_t>) const override { return {}; }
  int64_t length(int64_t row) const override { return lengths_.at(static_cast<size_t>(row)); }

 private:
  std::vector<int64_t> lengths_;
};

/// `count` lengths from 1 to `longest`, in no order.
Lengths drawn(int64_t count, int64_t longest = 30) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < count; ++i)
    lengths.push_back(
        1 + static_cast<int64_t>(Random(4).below(uint64_t(i), static_cast<uint64_t>(longest))));
  return Lengths(std::move(lengths));
}

std::vector<int64_t> numbers(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

std::vector<int64_t> joined(const Batches& batches) {
  std::vector<int64_t> rows;
  for (const auto& batch : batches) rows.insert(rows.end(), batch.begin(), batch.end());
  return rows;
}

std::vector<int64_t> sorted(std::vector<int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

int64_t longest(const Dataset& rows, const std::vector<int64_t>& batch) {
  int64_t length = 0;
  for (const int64_t row : batch) length = std::max(length, rows.length(row));
  return length;
}

/// What a batch costs with its padding.
int64_t tokens(const Dataset& rows, const std::vector<int64_t>& batch) {
  return static_cast<int64_t>(batch.size()) * longest(rows, batch);
}

int64_t tokens(const Dataset& rows, const Batches& batches) {
  int64_t sum = 0;
  for (const auto& batch : batches) sum += tokens(rows, batch);
  return sum;
}

TEST(Batches, HoldEveryRowOnceWithAnyOptions) {
  for (const int64_t count : {1, 7, 100, 101}) {
    const Lengths rows = drawn(count);
    const auto order = Random(2).permutation(count);
    for (const int64_t size : {1, 8, 1000})
      for (const int64_t budget : {0, 1, 64, 100000})
        for (const int64_t pool : {0, 1, 3, 1000})
          for (const bool shuffle : {false, true}) {
            const auto plan = plan_batches(rows, order, {size, budget, pool, shuffle}, Random(1));
            EXPECT_EQ(sorted(joined(plan)), numbers(count))
                << count << " rows, " << size << ", " << budget << ", " << pool << ", " << shuffle;
            for (const auto& batch : plan) EXPECT_FALSE(batch.empty());
          }
  }
}

TEST(Batches, AnOrderMayLeaveRowsOut) {
  const Lengths rows = drawn(50);
  const std::vector<int64_t> order{41, 3, 17, 20, 8};
  for (const int64_t pool : {0, 2})
    EXPECT_EQ(sorted(joined(plan_batches(rows, order, {2, 0, pool, true}, Random(1)))),
              sorted(order));
}

TEST(Batches, NoRowsGiveNoBatches) {
  const Lengths rows = drawn(5);
  for (const int64_t budget : {0, 64})
    for (const int64_t pool : {0, 4})
      EXPECT_TRUE(plan_batches(rows, {}, {8, budget, pool, true}, Random(1)).empty());
}

TEST(Batches, KeepTheOrderWithoutPools) {
  const Lengths rows = drawn(10);
  const std::vector<int64_t> order{9, 1, 8, 2, 7, 3, 6, 4, 5, 0};
  EXPECT_EQ(plan_batches(rows, order, {4, 0, 0, true}, Random(1)),
            (Batches{{9, 1, 8, 2}, {7, 3, 6, 4}, {5, 0}}));
  EXPECT_EQ(joined(plan_batches(rows, order, {4, 40, 0, true}, Random(1))), order);
}

TEST(Batches, AreFullExceptTheLastOfAPool) {
  const Lengths rows = drawn(45);
  const auto plan = plan_batches(rows, numbers(45), {4, 0, 5, false}, Random(1));
  ASSERT_EQ(plan.size(), 12u);  // two pools of 5 batches, then 5 rows
  for (size_t i = 0; i < 11; ++i) EXPECT_EQ(plan[i].size(), 4u) << i;
  EXPECT_EQ(plan[11].size(), 1u);
}

TEST(Batches, StayWithinTheTokenBudget) {
  const Lengths rows = drawn(500);
  for (const int64_t budget : {1, 29, 64, 300})
    for (const int64_t pool : {0, 4, 1000}) {
      const auto plan = plan_batches(rows, numbers(500), {8, budget, pool, true}, Random(1));
      for (const auto& batch : plan)
        EXPECT_TRUE(batch.size() == 1 || tokens(rows, batch) <= budget)
            << tokens(rows, batch) << " of " << budget << ", pool " << pool;
    }
}

TEST(Batches, ARowLongerThanTheBudgetStandsAlone) {
  const Lengths rows({3, 50, 2, 4, 60, 70, 1});
  EXPECT_EQ(plan_batches(rows, numbers(7), {8, 10, 0, true}, Random(1)),
            (Batches{{0}, {1}, {2, 3}, {4}, {5}, {6}}));
}

TEST(Batches, TakeAsManyRowsAsTheBudgetHolds) {
  const Lengths rows = drawn(300);
  auto plan = plan_batches(rows, numbers(300), {8, 100, 0, true}, Random(1));
  for (size_t i = 0; i + 1 < plan.size(); ++i) {
    plan[i].push_back(plan[i + 1].front());
    EXPECT_GT(tokens(rows, plan[i]), 100) << "batch " << i << " had room for one more";
  }
}

TEST(Batches, PoolsPutSimilarLengthsTogether) {
  const Lengths rows = drawn(400);
  const auto order = numbers(400);
  const auto plain = plan_batches(rows, order, {8, 0, 0, true}, Random(1));
  const auto pooled = plan_batches(rows, order, {8, 0, 10, true}, Random(1));
  int64_t least = 0;  // without any padding
  for (const int64_t row : order) least += rows.length(row);
  EXPECT_LT(tokens(rows, pooled) - least, (tokens(rows, plain) - least) / 4);
  EXPECT_LT(plan_batches(rows, order, {8, 240, 10, true}, Random(1)).size(),
            plan_batches(rows, order, {8, 240, 0, true}, Random(1)).size());
}

TEST(Batches, OnePoolOfAllRowsIsSortedThroughout) {
  const Lengths rows = drawn(100, 9);
  for (const int64_t budget : {0, 50}) {
    const auto plan = joined(plan_batches(rows, numbers(100), {8, budget, 1000, false}, Random(1)));
    for (size_t i = 1; i < plan.size(); ++i) {
      const auto before = std::pair(rows.length(plan[i - 1]), plan[i - 1]),
                 here = std::pair(rows.length(plan[i]), plan[i]);
      EXPECT_LT(before, here) << "rows of one length keep their order";
    }
  }
}

TEST(Batches, WithoutShufflingPoolsStayInOrder) {
  const Lengths rows = drawn(100);
  const auto order = Random(2).permutation(100);
  const auto plan = plan_batches(rows, order, {4, 0, 3, false}, Random(1));
  const auto taken = joined(plan);
  for (size_t begin = 0; begin < 100; begin += 12) {
    const auto end = static_cast<std::ptrdiff_t>(std::min<size_t>(100, begin + 12));
    const auto first = static_cast<std::ptrdiff_t>(begin);
    EXPECT_EQ(sorted({taken.begin() + first, taken.begin() + end}),
              sorted({order.begin() + first, order.begin() + end}))
        << "the pool from row " << begin;
  }
}

TEST(Batches, ShufflingMovesWholeBatches) {
  const Lengths rows = drawn(200);
  for (const int64_t budget : {0, 100}) {
    auto still = plan_batches(rows, numbers(200), {4, budget, 5, false}, Random(1));
    auto moved = plan_batches(rows, numbers(200), {4, budget, 5, true}, Random(1));
    EXPECT_NE(moved, still);
    std::sort(still.begin(), still.end());
    std::sort(moved.begin(), moved.end());
    EXPECT_EQ(moved, still);
  }
}

TEST(Batches, TheSameArgumentsGiveTheSamePlan) {
  const Lengths rows = drawn(200);
  const auto order = Random(2).permutation(200);
  for (const int64_t budget : {0, 100}) {
    const BatchOptions options{4, budget, 5, true};
    const auto plan = plan_batches(rows, order, options, Random(7));
    EXPECT_EQ(plan, plan_batches(rows, order, options, Random(7)));
    EXPECT_NE(plan, plan_batches(rows, order, options, Random(8)));
  }
}

}  // namespace
}  // namespace fovea::batches_test
