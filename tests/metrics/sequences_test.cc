#include "fovea/metrics/sequences.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/random.h"
#include "tests/support/expect_error.h"

namespace fovea::sequences_test {
namespace {

/// By the recursion that defines it.
int64_t slow_distance(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.empty() || b.empty()) return static_cast<int64_t>(a.size() + b.size());
  const int64_t both = slow_distance(a.subspan(1), b.subspan(1)) + (a[0] == b[0] ? 0 : 1);
  return std::min({both, slow_distance(a.subspan(1), b) + 1, slow_distance(a, b.subspan(1)) + 1});
}

TEST(Sequences, EditDistanceOfKnownWords) {
  EXPECT_EQ(edit_distance(code_points("kitten"), code_points("sitting")), 3);
  EXPECT_EQ(edit_distance(code_points("größe"), code_points("große")), 1);
  EXPECT_EQ(edit_distance(Symbols{}, Symbols{1, 2}), 2);
  EXPECT_EQ(edit_distance(Symbols{1, 2, 3}, Symbols{}), 3);
}

TEST(Sequences, EditDistanceFollowsItsDefinition) {
  const Random random(3);
  for (uint64_t pair = 0; pair < 60; ++pair) {
    auto drawn = [&](const Random& source) {
      Symbols symbols(source.below(99, 7));
      for (size_t i = 0; i < symbols.size(); ++i)
        symbols[i] = static_cast<int64_t>(source.below(i, 3));
      return symbols;
    };
    const Symbols a = drawn(random.split("a").split(pair)),
                  b = drawn(random.split("b").split(pair));
    EXPECT_EQ(edit_distance(a, b), slow_distance(a, b));
  }
}

TEST(Sequences, RatesOverAHandCountedCorpus) {
  const std::vector<Symbols> targets = {{1, 2, 3}, {4, 5}, {6}};
  const std::vector<Symbols> outputs = {{1, 2, 3}, {5}, {6, 7}};
  EXPECT_DOUBLE_EQ(exact_match(outputs, targets), 1.0 / 3);
  EXPECT_DOUBLE_EQ(position_accuracy(outputs, targets), 4.0 / 6);  // 3, 0 and 1 of 6
  EXPECT_DOUBLE_EQ(error_rate(outputs, targets), 2.0 / 6);         // one missing, one too many
  EXPECT_DOUBLE_EQ(exact_match(targets, targets), 1);
  EXPECT_DOUBLE_EQ(error_rate(targets, targets), 0);
}

TEST(Sequences, AnEmptyTargetCountsAsAnOutputButAddsNoPosition) {
  const std::vector<Symbols> targets = {{}, {1, 2}}, outputs = {{}, {1, 9}};
  EXPECT_DOUBLE_EQ(exact_match(outputs, targets), 0.5);
  EXPECT_DOUBLE_EQ(position_accuracy(outputs, targets), 0.5);
}

TEST(Sequences, PerplexityOfAFairDie) {
  EXPECT_NEAR(perplexity(10 * std::log(6.0), 10), 6, 1e-12);
  EXPECT_DOUBLE_EQ(perplexity(0, 5), 1);
}

TEST(Sequences, CodePointsOfValidAndBrokenText) {
  EXPECT_EQ(code_points("aß東🙂"), (Symbols{'a', 0xDF, 0x6771, 0x1F642}));
  EXPECT_EQ(code_points("\xFF\xFE").size(), 2u);
  EXPECT_NE(code_points("\xFF"), code_points("\xFE"));
  EXPECT_NE(code_points("\xFF"), code_points("ÿ"));
  EXPECT_EQ(code_points("\xE6\x9D").size(), 2u);  // 東 without its last byte
  EXPECT_TRUE(code_points("").empty());
}

TEST(Sequences, RefusesWhatDoesNotFit) {
  const auto kind = ErrorKind::InvalidArgument;
  const std::vector<Symbols> one = {{1}}, two = {{1}, {2}}, empty = {{}};
  testing::expect_error(kind, "1 outputs but 2 targets", [&] { exact_match(one, two); });
  testing::expect_error(kind, "1 outputs but 2 targets", [&] { error_rate(one, two); });
  testing::expect_error(kind, "found none", [&] { exact_match({}, {}); });
  testing::expect_error(kind, "targets are empty", [&] { position_accuracy(one, empty); });
  testing::expect_error(kind, "at least one symbol", [&] { perplexity(1, 0); });
}

}  // namespace
}  // namespace fovea::sequences_test
