#include "fovea/tensor/principal_components.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::principal_components_test {
namespace {

using testing::expect_error;

/// Four points on a cross: 2 along (3, 4) / 5, 1 across it.
at::Tensor cross() {
  return at::tensor({1.2, 1.6, -1.2, -1.6, -0.8, 0.6, 0.8, -0.6}).view({4, 2}) + 7;
}

TEST(PrincipalComponents, OfACrossAreItsArms) {
  const PrincipalComponents found = principal_components(cross(), 2);
  EXPECT_TRUE(
      found.directions.allclose(at::tensor({0.6, 0.8, 0.8, -0.6}).view({2, 2}).to(at::kDouble)));
  EXPECT_TRUE(found.coordinates.allclose(
      at::tensor({2., 0., -2., 0., 0., -1., 0., 1.}).view({4, 2}).to(at::kDouble), 1e-9, 1e-9));
  EXPECT_NEAR(found.explained[0], 0.8, 1e-12);
  EXPECT_NEAR(found.explained[1], 0.2, 1e-12);
}

TEST(PrincipalComponents, FewPointsOfManyNumbersAgreeWithThePlainWay) {
  torch::manual_seed(1);
  const at::Tensor few = at::randn({6, 40}, at::kDouble);
  const PrincipalComponents found = principal_components(few, 3);
  const at::Tensor centred = few - few.mean(0);
  const auto [u, s, v] = torch::linalg_svd(centred, false);
  EXPECT_TRUE(found.coordinates.abs().allclose((u * s).narrow(1, 0, 3).abs()));
  EXPECT_TRUE(found.directions.norm(2, 1).allclose(at::ones({3}, at::kDouble)));
  EXPECT_NEAR(found.explained[1], (s[1] * s[1] / s.square().sum()).item<double>(), 1e-12);
}

TEST(PrincipalComponents, SignsAndBitsAreTheSameEachTime) {
  torch::manual_seed(2);
  const at::Tensor points = at::randn({50, 8});
  const PrincipalComponents one = principal_components(points, 2);
  EXPECT_TRUE(one.coordinates.equal(principal_components(points, 2).coordinates));
  EXPECT_GT(one.directions.gather(1, one.directions.abs().argmax(1, true)).min().item<double>(), 0);
}

TEST(PrincipalComponents, WhatDoesNotVaryIsZero) {
  const PrincipalComponents same = principal_components(at::ones({3, 4}), 2);
  EXPECT_EQ(same.coordinates.abs().sum().item<double>(), 0);
  EXPECT_EQ(same.explained, (std::vector<double>{0, 0}));
  const PrincipalComponents one = principal_components(at::ones({1, 1}), 2);
  EXPECT_EQ(one.coordinates.sizes(), (at::IntArrayRef{1, 2}));
}

TEST(PrincipalComponents, RefusesNothingAndNaN) {
  expect_error(ErrorKind::InvalidArgument, {"points [N, D]", "[0, 3]"}, [] {
    principal_components(at::empty({0, 3}), 2);
  });
  const at::Tensor broken = at::full({2, 2}, std::numeric_limits<double>::quiet_NaN());
  expect_error(ErrorKind::InvalidArgument, {"finite"}, [&] { principal_components(broken, 2); });
}

}  // namespace
}  // namespace fovea::principal_components_test
