#include "fovea/nn/layer_norm.h"

#include <functional>

#include "fovea/core/kernel_path.h"
#include "fovea/core/parallel.h"
#include "fovea/core/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"

namespace fovea {
namespace {

using at::Tensor;
using testing::expect_error;
using testing::gradient_error;

LayerNorm drawn(int64_t width, at::ScalarType type = at::kFloat) {
  LayerNorm norm(width);
  torch::NoGradGuard no_gradients;
  norm.weight.copy_(Random(1).uniform_tensor({width}, 0.5, 1.5, at::kFloat));
  norm.bias.copy_(Random(2).uniform_tensor({width}, -1, 1, at::kFloat));
  norm.to(type);
  norm.weight = norm.named_parameters()["weight"];
  norm.bias = norm.named_parameters()["bias"];
  return norm;
}

Tensor numbers(at::IntArrayRef shape, uint64_t seed, at::ScalarType type = at::kFloat) {
  return Random(seed).normal_tensor(shape, 0.3, 2, at::TensorOptions(type)).requires_grad_();
}

/// y, z and all gradients of a call whose two results both matter.
std::vector<Tensor> everything(const LayerNorm& norm, const Tensor& residual, const Tensor& x,
                               double rate) {
  const Random random(9);
  const AddedNorm got = norm.add(residual, x, rate, &random);
  const auto by = [&](uint64_t seed) { return numbers(x.sizes(), seed, x.scalar_type()).detach(); };
  std::vector<Tensor> results =
      torch::autograd::grad({(got.output * by(5)).sum() + (got.sum * by(6)).sum()},
                            {residual, x, norm.weight, norm.bias});
  results.push_back(got.output), results.push_back(got.sum);
  return results;
}

double worst(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].numel() == 0) continue;
    const double scale = std::max(1.0, b[i].abs().max().item<double>());
    largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>() / scale);
  }
  return largest;
}

TEST(LayerNorm, HasPyTorchsNamesAndValues) {
  const LayerNorm norm = drawn(24);
  EXPECT_EQ(norm.named_parameters().keys(), (std::vector<std::string>{"weight", "bias"}));
  for (const auto& shape : {std::vector<int64_t>{24}, {5, 24}, {2, 3, 24}, {0, 24}, {40, 2, 24}}) {
    const Tensor x = numbers(shape, 3);
    const Tensor expected = at::layer_norm(x, {24}, norm.weight, norm.bias, 1e-5);
    EXPECT_EQ(norm.forward(x).sizes(), shape);
    EXPECT_LT(worst({norm.forward(x)}, {expected}), 1e-6);
    const auto gradient = [&](const Tensor& y) {
      return torch::autograd::grad({(y * numbers(shape, 4)).sum()}, {x, norm.weight, norm.bias});
    };
    EXPECT_LT(worst(gradient(norm.forward(x)), gradient(expected)), 2e-6);
  }
}

TEST(LayerNorm, KernelAndReadablePathAgree) {
  for (const int64_t width : {1, 8, 17, 130})
    for (const double rate : {0.0, 0.3}) {
      const LayerNorm norm = drawn(width);
      const Tensor residual = numbers({7, 11, width}, 3), x = numbers({7, 11, width}, 4);
      const std::vector<Tensor> fast = everything(norm, residual, x, rate);
      const ReadableOnly readable;
      const double bound = width == 1 ? 1e-4 : 2e-6;  // 1/sigma is 300 there
      EXPECT_LT(worst(fast, everything(norm, residual, x, rate)), bound)
          << width << " wide, rate " << rate;
    }
}

TEST(LayerNorm, AddIsDropoutThenSumThenNorm) {
  const LayerNorm norm = drawn(70);
  const Tensor residual = numbers({4, 6, 70}, 3), x = numbers({4, 6, 70}, 4);
  const Random random(9);
  const AddedNorm got = norm.add(residual, x, 0.25, &random);
  const Tensor sum = residual + dropout(x, 0.25, random);
  EXPECT_LT(worst({got.sum, got.output}, {sum, norm.forward(sum)}), 1e-6);
  EXPECT_TRUE(torch::equal(norm.add(residual, x, 0.25, nullptr).sum, residual + x));
}

TEST(LayerNorm, OnlyOneResultMayBeUsed) {
  // Post-norm never looks at the sum; a last layer might never look at the norm.
  const LayerNorm norm = drawn(20);
  const Tensor residual = numbers({9, 20}, 3), x = numbers({9, 20}, 4);
  const Random random(9);
  for (const bool sum : {false, true}) {
    const auto gradients = [&] {
      const AddedNorm got = norm.add(residual, x, 0.5, &random);
      return torch::autograd::grad({(sum ? got.sum : got.output).square().sum()}, {residual, x});
    };
    const std::vector<Tensor> fast = gradients();
    const ReadableOnly readable;
    EXPECT_LT(worst(fast, gradients()), 2e-6);
  }
}

TEST(LayerNorm, GradientsFollowFiniteDifferences) {
  for (const double rate : {0.0, 0.3}) {
    const LayerNorm norm = drawn(13, at::kDouble);
    const Tensor residual = numbers({5, 13}, 3, at::kDouble), x = numbers({5, 13}, 4, at::kDouble);
    const Random random(9);
    const auto loss = [&] {
      const AddedNorm got = norm.add(residual, x, rate, &random);
      return (got.output.tanh() + got.sum.square()).sum();
    };
    EXPECT_LT(gradient_error(loss, {residual, x, norm.weight, norm.bias}), 1e-7);
  }
}

TEST(LayerNorm, GradientOfTheGradientGoesTheReadableWay) {
  const LayerNorm norm = drawn(12);
  const Tensor residual = numbers({6, 12}, 3), x = numbers({12, 6}, 4);
  const Random random(9);
  const auto second = [&] {
    const AddedNorm got = norm.add(residual, x.t(), 0.2, &random);
    const Tensor loss =
        got.output.square().sum() + got.sum.sin().sum() + norm.forward(x.t()).pow(3).sum();
    const auto first =
        torch::autograd::grad({loss}, {residual, x, norm.weight}, {}, /*retain_graph=*/true,
                              /*create_graph=*/true);
    return torch::autograd::grad({first[0].square().sum() + (first[1] * first[1]).sum()},
                                 {residual, x, norm.weight});
  };
  const std::vector<Tensor> fast = second();
  const ReadableOnly readable;
  EXPECT_LT(worst(fast, second()), 2e-5);
}

TEST(LayerNorm, SameBitsAtAnyNumberOfThreadsAndLayout) {
  const LayerNorm norm = drawn(64);
  const Tensor residual = numbers({50, 8, 64}, 3), x = numbers({50, 8, 64}, 4);
  const std::vector<Tensor> one = everything(norm, residual, x, 0.1);
  set_threads(3);
  const std::vector<Tensor> three = everything(norm, residual, x, 0.1);
  set_threads(1);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(torch::equal(one[i], three[i])) << i;
  const Tensor turned = x.detach().transpose(0, 1).contiguous().transpose(0, 1);
  EXPECT_TRUE(torch::equal(norm.forward(turned), norm.forward(x)));
}

TEST(LayerNorm, RefusesWhatCannotWork) {
  expect_error(ErrorKind::InvalidArgument, {"width must be positive"}, [] { LayerNorm norm(0); });
  const LayerNorm norm(8);
  expect_error(ErrorKind::InvalidArgument, {"over 8 numbers"}, [&] {
    norm.forward(at::zeros({2, 7}));
  });
  expect_error(ErrorKind::InvalidArgument, {"over 8 numbers"},
               [&] { norm.forward(at::zeros({})); });
  expect_error(ErrorKind::InvalidArgument, {"shapes must be the same"}, [&] {
    norm.add(at::zeros({3, 8}), at::zeros({2, 8}), 0, nullptr);
  });
  expect_error(ErrorKind::InvalidArgument, {"dropout rate"}, [&] {
    norm.add(at::zeros({2, 8}), at::zeros({2, 8}), 1, nullptr);
  });
}

}  // namespace
}  // namespace fovea
