#include "fovea/core/product.h"

#include <gtest/gtest.h>

#include "fovea/core/random.h"
#include "fovea/core/torch.h"
#include "tests/support/expect_error.h"

namespace fovea {
namespace {

using at::Tensor;
using testing::expect_error;

Tensor draw(const char* name, at::IntArrayRef shape) {
  return Random(7).split(name).normal_tensor(shape, 0, 1, at::kFloat);
}

double relative_error(const Tensor& found, const Tensor& expected) {
  return ((found - expected).norm() / expected.norm()).item<double>();
}

/// y, dx, dW and db of a layer.
std::vector<Tensor> layer(bool with_bias) {
  const Tensor x = draw("x", {3, 5, 40}).requires_grad_();
  const Tensor weight = draw("weight", {24, 40}).requires_grad_();
  const Tensor bias = with_bias ? draw("bias", {24}).requires_grad_() : Tensor();
  const Tensor y = linear_layer(x, weight, bias);
  y.backward(draw("dy", {3, 5, 24}));
  std::vector<Tensor> all{y.detach(), x.grad(), weight.grad()};
  if (with_bias) all.push_back(bias.grad());
  return all;
}

TEST(Product, IsLibTorchsWithoutAScope) {
  const Tensor x = draw("x", {5, 40}), weight = draw("weight", {24, 40}), bias = draw("b", {24});
  EXPECT_TRUE(linear_layer(x, weight, bias).equal(torch::linear(x, weight, bias)));
  EXPECT_TRUE(factor_of(x).is_same(x));
  EXPECT_TRUE(product(x, weight.t()).equal(at::mm(x, weight.t())));
}

/// Rounding a factor changes it by at most 2^-9 of itself, and at random.
TEST(Product, RoundsFactorsAndNothingElse) {
  for (const bool with_bias : {true, false}) {
    const std::vector<Tensor> exact = layer(with_bias);
    const PrecisionScope scope(Precision::BFloat16, at::kCPU);
    const std::vector<Tensor> rounded = layer(with_bias);
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_EQ(rounded[i].scalar_type(), at::kFloat) << i;
      const double error = relative_error(rounded[i], exact[i]);
      EXPECT_LT(error, 0.01) << i;
      if (i == 3)
        EXPECT_EQ(error, 0) << "the bias is no factor";
      else
        EXPECT_GT(error, 0) << i << ": nothing was rounded";
    }
  }
}

TEST(Product, IntoAndAdded) {
  const Tensor a = draw("a", {6, 30}), b = draw("b", {30, 8}), exact = at::mm(a, b);
  for (const Precision precision : {Precision::Float32, Precision::BFloat16}) {
    const PrecisionScope scope(precision, at::kCPU);
    Tensor sum = at::empty({6, 8});
    product_into(sum, factor_of(a), factor_of(b));
    EXPECT_LT(relative_error(sum, exact), 0.01);
    add_product(sum, factor_of(a), b);  // one rounded factor is enough
    EXPECT_LT(relative_error(sum, 2 * exact), 0.01);
  }
}

TEST(Product, ScopesEndAndDoNotReachOtherThings) {
  const Tensor x = draw("x", {4, 4}), whole = at::arange(4);
  {
    const PrecisionScope outer(Precision::BFloat16, at::kCPU);
    {
      const PrecisionScope inner(Precision::Float32, at::kCPU);
      EXPECT_TRUE(factor_of(x).is_same(x));
    }
    EXPECT_EQ(factor_of(x).scalar_type(), at::kBFloat16);
    EXPECT_TRUE(factor_of(whole).is_same(whole));
    EXPECT_EQ(linear_layer(x.to(at::kDouble), x.to(at::kDouble), {}).scalar_type(), at::kDouble);
  }
  EXPECT_TRUE(factor_of(x).is_same(x));
}

TEST(Product, GradientsOfGradientsAreRefused) {
  const PrecisionScope scope(Precision::BFloat16, at::kCPU);
  const Tensor x = draw("x", {4, 4}).requires_grad_();
  const Tensor sum = linear_layer(x, draw("weight", {4, 4}), {}).square().sum();
  expect_error(ErrorKind::Unsupported, "need float32", [&] {
    torch::autograd::grad({sum}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true);
  });
}

TEST(Product, KnowsItsNames) {
  EXPECT_EQ(precision_named("bf16"), Precision::BFloat16);
  expect_error(ErrorKind::InvalidArgument, {"'half'", "float32, tf32, bf16"},
               [] { precision_named("half"); });
}

}  // namespace
}  // namespace fovea
