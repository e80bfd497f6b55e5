#include "fovea/metrics/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "tests/metrics/golden.h"

namespace fovea {
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

}  // namespace
}  // namespace fovea
