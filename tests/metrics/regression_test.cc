#include "fovea/metrics/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "tests/metrics/golden.h"

namespace fovea::regression_test {
namespace {

TEST(Regression, MatchesReference) {
  const Json expected = golden("regression");
  const at::Tensor predicted = tensor_of(expected["predicted"]);
  const at::Tensor targets = tensor_of(expected["targets"]);
  EXPECT_NEAR(mean_squared_error(predicted, targets), expected["mse"].get<double>(), 1e-12);
  EXPECT_NEAR(root_mean_squared_error(predicted, targets), std::sqrt(expected["mse"].get<double>()),
              1e-12);
  EXPECT_NEAR(mean_absolute_error(predicted, targets), expected["mae"].get<double>(), 1e-12);
  EXPECT_NEAR(r_squared(predicted, targets).value(), expected["r2"].get<double>(), 1e-12);
}

TEST(Regression, ShapesMayDifferButNotSizes) {
  EXPECT_DOUBLE_EQ(mean_absolute_error(torch::ones({2, 1}), torch::zeros({2})), 1);
  EXPECT_THROW(mean_squared_error(torch::ones({3}), torch::zeros({2})), Error);
  EXPECT_THROW(mean_squared_error(torch::ones({0}), torch::zeros({0})), Error);
}

TEST(Regression, ConstantTargetsHaveNoRSquared) {
  EXPECT_FALSE(r_squared(torch::rand({7}), torch::full({7}, 0.1)).has_value());
  EXPECT_DOUBLE_EQ(r_squared(torch::tensor({1.5, 1.5}), torch::tensor({1.0, 2.0})).value(), 0);
}

TEST(Regression, Correlations) {
  const at::Tensor numbers = torch::tensor({1.0, 2.0, 2.0, 4.0}), cubes = numbers.pow(3);
  EXPECT_NEAR(pearson(2 * numbers + 1, numbers).value(), 1, 1e-12);
  EXPECT_NEAR(pearson(-numbers, numbers).value(), -1, 1e-12);
  EXPECT_NEAR(spearman(cubes, numbers).value(), 1, 1e-12);
  EXPECT_LT(pearson(cubes, numbers).value(), 0.98);
  // scipy.stats.spearmanr([1, 2, 2, 4], [2, 1, 3, 4])
  EXPECT_NEAR(spearman(numbers, torch::tensor({2.0, 1.0, 3.0, 4.0})).value(), 0.6324555320336759,
              1e-12);
  EXPECT_FALSE(pearson(torch::ones({4}), numbers).has_value());
  EXPECT_FALSE(spearman(torch::ones({4}), numbers).has_value());
  EXPECT_FALSE(pearson(torch::full({4}, std::nan("")), numbers).has_value());
  EXPECT_THROW(spearman(torch::ones({3}), numbers), Error);
}

TEST(Regression, ResidualsAsNumpyHasThem) {
  const Json expected = golden("regression");
  const at::Tensor predicted = tensor_of(expected["predicted"]);
  const at::Tensor targets = tensor_of(expected["targets"]);
  EXPECT_NEAR(median_absolute_error(predicted, targets), 0.20198630903630618, 1e-12);
  const Residuals found = summarize_residuals(predicted, targets, 3);
  EXPECT_NEAR(found.mean, -0.05915665637272914, 1e-12);
  EXPECT_NEAR(found.deviation, 0.306860520341172, 1e-12);
  ASSERT_EQ(found.quantiles.size(), std::size(kResidualQuantiles));
  EXPECT_NEAR(found.quantiles[0], -0.8471491699084167, 1e-12);
  EXPECT_NEAR(found.quantiles[1], -0.5026294296417599, 1e-12);
  EXPECT_NEAR(found.quantiles[3], -0.09833776377849884, 1e-12);
  EXPECT_EQ(found.worst_rows, (std::vector<int64_t>{55, 47, 17}));
  EXPECT_EQ(summarize_residuals(torch::ones({1}), torch::zeros({1})).worst_rows.size(), 1u);
}

}  // namespace
}  // namespace fovea::regression_test
