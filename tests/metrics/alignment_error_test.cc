#include "fovea/metrics/alignment_error.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::alignment_error_test {
namespace {

using at::Tensor;
using testing::expect_error;

Tensor links(int64_t rows, int64_t columns, std::initializer_list<std::pair<int, int>> places) {
  const Tensor matrix = torch::zeros({rows, columns}, at::kBool);
  for (const auto& [row, column] : places) matrix[row][column] = true;
  return matrix;
}

/// A = {00, 11, 21, 32}, S = {00, 11}, P = S and {21, 33}: |A n S| = 2, |A n P| = 3.
TEST(AlignmentError, HandCountedLinks) {
  const AlignmentCounts counts =
      count_links(links(4, 4, {{0, 0}, {1, 1}, {2, 1}, {3, 2}}), links(4, 4, {{0, 0}, {1, 1}}),
                  links(4, 4, {{2, 1}, {3, 3}}));
  EXPECT_EQ(counts.found, 4);
  EXPECT_EQ(counts.sure, 2);
  EXPECT_DOUBLE_EQ(*counts.precision(), 3.0 / 4);
  EXPECT_DOUBLE_EQ(*counts.recall(), 1);
  EXPECT_DOUBLE_EQ(*counts.error_rate(), 1 - 5.0 / 6);
}

TEST(AlignmentError, IsNoneForTheSureLinksAndAllForOthers) {
  const Tensor sure = links(3, 3, {{0, 2}, {1, 1}, {2, 0}});
  EXPECT_DOUBLE_EQ(*count_links(sure, sure, torch::zeros({3, 3})).error_rate(), 0);
  EXPECT_DOUBLE_EQ(*count_links(sure.logical_not(), sure, sure).error_rate(), 1);
}

/// Without sure links only precision counts: of two links one is possible.
TEST(AlignmentError, UndefinedWhereNothingIsKnown) {
  const Tensor none = torch::zeros({2, 2}, at::kBool), some = links(2, 2, {{0, 0}});
  const AlignmentCounts only_possible = count_links(links(2, 2, {{0, 0}, {1, 1}}), none, some);
  EXPECT_FALSE(only_possible.recall());
  EXPECT_DOUBLE_EQ(*only_possible.error_rate(), 0.5);
  const AlignmentCounts nothing = count_links(none, none, some);
  EXPECT_FALSE(nothing.precision());
  EXPECT_FALSE(nothing.error_rate());
  const AlignmentCounts silent = count_links(none, some, some);
  EXPECT_DOUBLE_EQ(*silent.error_rate(), 1);
}

/// Links are added up before they are divided: 1 of 1 and 1 of 3 right is 1 - 4 / 8.
TEST(AlignmentError, CountsOverTheCorpus) {
  AlignmentCounts sum =
      count_links(links(1, 1, {{0, 0}}), links(1, 1, {{0, 0}}), links(1, 1, {{0, 0}}));
  const Tensor sure = links(3, 2, {{0, 0}, {1, 0}, {2, 0}});
  sum += count_links(links(3, 2, {{0, 0}, {1, 1}, {2, 1}}), sure, sure);
  EXPECT_DOUBLE_EQ(*sum.error_rate(), 0.5);
}

TEST(AlignmentError, WordsAreJoinedFromTheirTokens) {
  // The first word of the target has two tokens. Each alone looks most at token 0, a word of its
  // own; together the two tokens of the second source word have more.
  const Tensor weights = torch::tensor({{.4, .3, .3}, {.4, .35, .25}, {.9, .1, 0.}});
  const Tensor found =
      strongest_links(weights, torch::tensor({0, 0, 1}), torch::tensor({0, 1, 1}), {2, 2});
  EXPECT_TRUE(found.equal(links(2, 2, {{0, 1}, {1, 0}}))) << found;
}

TEST(AlignmentError, TokensOutsideWordsAndWordsWithoutWeightHaveNoLink) {
  const Tensor weights = torch::tensor({{.2, .8}, {0., 0.}, {.1, .9}});
  const Tensor found =
      strongest_links(weights, torch::tensor({0, 1, -1}), torch::tensor({0, -1}), {3, 1});
  EXPECT_TRUE(found.equal(links(3, 1, {{0, 0}}))) << found;
}

TEST(AlignmentError, RefusesShapesThatDiffer) {
  expect_error(ErrorKind::InvalidArgument, {"[2, 2]", "[2, 3]"}, [] {
    count_links(torch::zeros({2, 2}), torch::zeros({2, 3}), torch::zeros({2, 2}));
  });
  expect_error(ErrorKind::InvalidArgument, {"[2, 2]", "3 and 2 tokens"}, [] {
    strongest_links(torch::zeros({2, 2}), torch::zeros({3}), torch::zeros({2}), {1, 1});
  });
}

}  // namespace
}  // namespace fovea::alignment_error_test
