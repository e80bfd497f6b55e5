#include "fovea/tasks/length_buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "fovea/base/text.h"
#include "fovea/tensor/random.h"

namespace fovea::length_buckets_test {
namespace {

/// The lengths that a label names: "6-10", or "7" alone.
std::pair<int64_t, int64_t> range_of(const std::string& label) {
  const auto ends = split(label, '-');
  return {std::stoll(ends.front()), std::stoll(ends.back())};
}

std::vector<int64_t> drawn(int64_t count, int64_t shortest, int64_t longest) {
  std::vector<int64_t> lengths;
  const auto span = static_cast<uint64_t>(longest - shortest + 1);
  for (int64_t i = 0; i < count; ++i)
    lengths.push_back(shortest + static_cast<int64_t>(Random(3).below(uint64_t(i), span)));
  return lengths;
}

std::vector<std::string> labels_of(const std::vector<LengthBucket>& buckets) {
  std::vector<std::string> labels;
  for (const LengthBucket& bucket : buckets) labels.push_back(bucket.label);
  return labels;
}

/// What holds for any lengths: labels follow each other without a gap, there are at most ten, and
/// every row stands once, in order, under the label that names its length.
void expect_tiled(const std::vector<int64_t>& lengths) {
  const auto buckets = length_buckets(lengths);
  ASSERT_FALSE(buckets.empty());
  EXPECT_LE(buckets.size(), 10u);
  std::vector<size_t> rows;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const auto [low, high] = range_of(buckets[i].label);
    EXPECT_LE(low, high) << buckets[i].label;
    const int64_t end_before = i == 0 ? low - 1 : range_of(buckets[i - 1].label).second;
    EXPECT_EQ(low, end_before + 1) << "before " << buckets[i].label;
    for (const size_t row : buckets[i].rows)
      EXPECT_TRUE(low <= lengths[row] && lengths[row] <= high)
          << lengths[row] << " in " << buckets[i].label;
    EXPECT_TRUE(std::is_sorted(buckets[i].rows.begin(), buckets[i].rows.end()));
    rows.insert(rows.end(), buckets[i].rows.begin(), buckets[i].rows.end());
  }
  std::sort(rows.begin(), rows.end());
  std::vector<size_t> all(lengths.size());
  std::iota(all.begin(), all.end(), size_t{0});
  EXPECT_EQ(rows, all);
  EXPECT_FALSE(buckets.front().rows.empty());
  EXPECT_FALSE(buckets.back().rows.empty());
}

TEST(LengthBuckets, TileAnyRange) {
  for (const auto& [shortest, longest] : std::vector<std::pair<int64_t, int64_t>>{{1, 1},
                                                                                  {1, 9},
                                                                                  {1, 10},
                                                                                  {1, 11},
                                                                                  {4, 13},
                                                                                  {5, 29},
                                                                                  {10, 11},
                                                                                  {1, 50},
                                                                                  {1, 51},
                                                                                  {97, 103},
                                                                                  {1, 1000},
                                                                                  {999, 1001},
                                                                                  {3, 123456}})
    for (const int64_t count : {1, 2, 50, 100, 101, 3000}) {
      SCOPED_TRACE(concat(count, " rows of ", shortest, " to ", longest));
      expect_tiled(drawn(count, shortest, longest));
    }
}

TEST(LengthBuckets, StepsAreRound) {
  const auto labels = [](int64_t longest) {
    std::vector<int64_t> lengths(static_cast<size_t>(longest));
    std::iota(lengths.begin(), lengths.end(), int64_t{1});
    return labels_of(length_buckets(lengths));
  };
  EXPECT_EQ(labels(4), (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_EQ(labels(11), (std::vector<std::string>{"1-2", "3-4", "5-6", "7-8", "9-10", "11"}));
  EXPECT_EQ(labels(32),
            (std::vector<std::string>{"1-5", "6-10", "11-15", "16-20", "21-25", "26-30", "31-32"}));
  EXPECT_EQ(labels(99).front(), "1-10");
}

TEST(LengthBuckets, RareLongRowsAreInTheLast) {
  std::vector<int64_t> lengths = drawn(1000, 1, 20);
  for (const size_t row : {13u, 500u, 999u}) lengths[row] = 4000;
  const auto buckets = length_buckets(lengths);
  EXPECT_EQ(buckets.size(), 10u);
  EXPECT_EQ(buckets.front().label, "1-2");
  EXPECT_EQ(buckets.back().label, "19-4000");
  for (const size_t row : {13u, 500u, 999u})
    EXPECT_EQ(std::count(buckets.back().rows.begin(), buckets.back().rows.end(), row), 1) << row;
  expect_tiled(lengths);
}

TEST(LengthBuckets, TheLongestHundredthIsRareInSmallSetsToo) {
  std::vector<int64_t> lengths = drawn(100, 1, 8);
  lengths[42] = 900;
  EXPECT_EQ(labels_of(length_buckets(lengths)),
            (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7", "8-900"}));
  expect_tiled(lengths);
}

TEST(LengthBuckets, EqualLengthsShareOne) {
  for (const int64_t length : {1, 7, 640}) {
    const auto buckets = length_buckets(std::vector<int64_t>(5, length));
    ASSERT_EQ(buckets.size(), 1u);
    EXPECT_EQ(buckets[0].label, concat(length));
    EXPECT_EQ(buckets[0].rows, (std::vector<size_t>{0, 1, 2, 3, 4}));
  }
}

TEST(LengthBuckets, OneRowAndNone) {
  const auto buckets = length_buckets(std::vector<int64_t>{12});
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].label, "12");
  EXPECT_EQ(buckets[0].rows, std::vector<size_t>{0});
  EXPECT_TRUE(length_buckets({}).empty());
}

TEST(LengthBuckets, EmptyTextsCountAsTheShortest) {
  const std::vector<int64_t> lengths{0, 1, 2, 0, 3};
  const auto buckets = length_buckets(lengths);
  EXPECT_EQ(labels_of(buckets), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(buckets[0].rows, (std::vector<size_t>{0, 1, 3}));
}

}  // namespace
}  // namespace fovea::length_buckets_test
