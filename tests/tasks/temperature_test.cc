#include <gtest/gtest.h>

#include "fovea/tasks/outputs/classes.h"
#include "fovea/tensor/torch.h"
#include "tests/metrics/golden.h"

namespace fovea::temperature_test {
namespace {

TEST(Temperature, IsThatOfTheSmallestLogLoss) {
  const Json several = golden("classes");
  const at::Tensor scores = tensor_of(several["scores"]);
  const at::Tensor targets = tensor_of(several["targets"]).to(at::kLong);
  EXPECT_NEAR(fit_temperature(scores, targets), 0.66741216, 1e-4) << "scipy's minimize_scalar";
  const at::Tensor sharper = with_temperature(scores, 0.5);
  EXPECT_TRUE(sharper.allclose(scores.square() / scores.square().sum(1, true), 1e-12, 1e-12));
  EXPECT_TRUE(sharper.argmax(1).equal(scores.argmax(1)));
  EXPECT_TRUE(with_temperature(scores, 1).is_same(scores));
  const at::Tensor sure = torch::tensor({{1.0, 0.0}, {0.0, 1.0}});
  EXPECT_TRUE(with_temperature(sure, 3).isfinite().all().item<bool>());
}

TEST(Temperature, AFewRowsMoveItALittle) {
  const at::Tensor scores = torch::tensor({{0.9, 0.1}, {0.2, 0.8}}, at::kDouble);
  const double right = fit_temperature(scores, torch::tensor({0, 1}));
  EXPECT_LT(right, 1);
  EXPECT_GT(right, 0.5) << "without a prior it would fall for ever";
  EXPECT_GT(fit_temperature(scores, torch::tensor({1, 0})), 1) << "sure and wrong";
}

}  // namespace
}  // namespace fovea::temperature_test
