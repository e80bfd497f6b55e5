#include "fovea/metrics/attention_truth.h"

#include <gtest/gtest.h>

#include <limits>

#include "fovea/base/error.h"
#include "tests/metrics/golden.h"

namespace fovea::attention_truth_test {
namespace {

TEST(AttentionTruth, MatchesReference) {
  const Json expected = golden("attention_truth");
  EXPECT_NEAR(attention_truth(tensor_of(expected["weights"]), tensor_of(expected["keep"])).value(),
              expected["share"].get<double>(), 1e-12);
}

TEST(AttentionTruth, KnownValues) {
  const at::Tensor weights = torch::tensor({{0.5, -0.25, 0.25}, {2.0, 1.0, 1.0}});
  EXPECT_DOUBLE_EQ(attention_truth(weights, torch::tensor({0, 1, 0})).value(), 0.25);
  EXPECT_DOUBLE_EQ(attention_truth(weights, torch::tensor({{1, 0, 0}, {0, 1, 1}})).value(), 0.5);
  const at::Tensor keep = torch::tensor({{true, false, false}, {false, false, true}});
  EXPECT_DOUBLE_EQ(attention_truth(weights.reshape({1, 1, 2, 3}), keep).value(), 0.375);
  EXPECT_DOUBLE_EQ(attention_truth(weights.reshape({1, 1, 2, 3}), keep.unsqueeze(0)).value(),
                   0.375);
}

TEST(AttentionTruth, RowsWithoutTruthAreLeftOut) {
  const at::Tensor weights = torch::tensor({{0.5, 0.5}, {1.0, 0.0}});
  EXPECT_DOUBLE_EQ(attention_truth(weights, torch::tensor({{1, 0}, {0, 0}})).value(), 0.5);
  EXPECT_FALSE(attention_truth(weights, torch::tensor({0, 0})).has_value());
}

TEST(AttentionTruth, RowsWithoutWeightFoundNothing) {
  const double kNaN = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor weights = torch::tensor({{0.0, 0.0}, {1.0, kNaN}, {1.0, 0.0}, {1.0, 0.0}});
  EXPECT_DOUBLE_EQ(attention_truth(weights, torch::tensor({1, 0})).value(), 0.5);
}

TEST(AttentionTruth, RefusesMasksThatDoNotFit) {
  EXPECT_THROW(attention_truth(torch::rand({2, 3}), torch::ones({2})), Error);
  EXPECT_THROW(attention_truth(torch::rand({2, 3, 4}), torch::ones({4})), Error);
  EXPECT_THROW(attention_truth(torch::rand({2, 3}), at::Tensor()), Error);
}

}  // namespace
}  // namespace fovea::attention_truth_test
