#include "fovea/tensor/product.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::product_test {
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

/// y, dx, dW and db of a layer on a GPU, whose weight is a part of a larger one.
std::vector<Tensor> gpu_layer(at::ScalarType type, int64_t out, bool with_bias) {
  const auto there = [&](const Tensor& x) { return x.to(at::kCUDA).requires_grad_(); };
  const Tensor x = there(draw("x", {3, 700, 40}).to(type)),
               weight = there(draw("w", {out + 8, 40}));
  const Tensor bias = with_bias ? there(draw("bias", {out})) : Tensor();
  const Tensor y = linear_layer(x, weight.narrow(0, 8, out), bias);
  std::vector<Tensor> inputs{x, weight};
  if (with_bias) inputs.push_back(bias);
  std::vector<Tensor> all = torch::autograd::grad(
      {y}, inputs, {draw("dy", {3, 700, out}).to(y.device(), y.scalar_type())});
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(all[i].scalar_type(), inputs[i].scalar_type()) << i;
  all.push_back(y.detach());
  return all;
}

TEST(Product, GpuLinearFollowsFloat32) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  for (const auto type : {at::kFloat, at::kBFloat16})
    for (const int64_t out : {24, 21, 520})  // whole packs of numbers, and not
      for (const bool with_bias : {true, false}) {
        const std::vector<Tensor> exact = gpu_layer(at::kFloat, out, with_bias);
        const PrecisionScope scope(Precision::BFloat16, at::Device(at::kCUDA));
        const std::vector<Tensor> rounded = gpu_layer(type, out, with_bias);
        EXPECT_EQ(rounded.back().scalar_type(), at::kBFloat16);
        for (size_t i = 0; i < exact.size(); ++i)
          EXPECT_LT(((rounded[i].to(at::kFloat) - exact[i]).abs().max() / exact[i].abs().max())
                        .item<double>(),
                    0.01)
              << i << ", " << out << " wide, " << type;
      }
}

TEST(Product, KnowsItsNames) {
  EXPECT_EQ(precision_named("bf16"), Precision::BFloat16);
  expect_error(ErrorKind::InvalidArgument, {"'half'", "float32, tf32, bf16"},
               [] { precision_named("half"); });
}

}  // namespace
}  // namespace fovea::product_test
