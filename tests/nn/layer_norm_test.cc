#include "fovea/nn/ops/layer_norm.h"

#include <torch/cuda.h>

#include <functional>
#include <optional>

#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::layer_norm_test {
namespace {

using at::Tensor;
using testing::expect_error;
using testing::gradient_error;
using testing::worst_difference;

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

TEST(LayerNorm, HasPyTorchsNamesAndValues) {
  const LayerNorm norm = drawn(24);
  EXPECT_EQ(norm.named_parameters().keys(), (std::vector<std::string>{"weight", "bias"}));
  for (const auto& shape : {std::vector<int64_t>{24}, {5, 24}, {2, 3, 24}, {0, 24}, {40, 2, 24}}) {
    const Tensor x = numbers(shape, 3);
    const Tensor expected = at::layer_norm(x, {24}, norm.weight, norm.bias, 1e-5);
    EXPECT_EQ(norm.forward(x).sizes(), shape);
    EXPECT_LT(worst_difference({norm.forward(x)}, {expected}), 1e-6);
    const auto gradient = [&](const Tensor& y) {
      return torch::autograd::grad({(y * numbers(shape, 4)).sum()}, {x, norm.weight, norm.bias});
    };
    EXPECT_LT(worst_difference(gradient(norm.forward(x)), gradient(expected)), 2e-6);
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
      EXPECT_LT(worst_difference(fast, everything(norm, residual, x, rate)), bound)
          << width << " wide, rate " << rate;
    }
}

TEST(LayerNorm, AddIsDropoutThenSumThenNorm) {
  const LayerNorm norm = drawn(70);
  const Tensor residual = numbers({4, 6, 70}, 3), x = numbers({4, 6, 70}, 4);
  const Random random(9);
  const AddedNorm got = norm.add(residual, x, 0.25, &random);
  const Tensor sum = residual + dropout(x, 0.25, random);
  EXPECT_LT(worst_difference({got.sum, got.output}, {sum, norm.forward(sum)}), 1e-6);
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
    EXPECT_LT(worst_difference(fast, gradients()), 2e-6);
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
  EXPECT_LT(worst_difference(fast, second()), 2e-5);
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

LayerNorm on_gpu(LayerNorm norm) {
  norm.to(at::Device(at::kCUDA));
  norm.weight = norm.named_parameters()["weight"];
  norm.bias = norm.named_parameters()["bias"];
  return norm;
}

Tensor gpu_numbers(at::IntArrayRef shape, uint64_t seed, at::ScalarType type = at::kFloat) {
  return numbers(shape, seed).detach().to(at::kCUDA).to(type).requires_grad_();
}

struct GpuTypes {
  at::ScalarType x, residual;
};

/// y, z and all gradients in float32, by our norm or by PyTorch's in float32.
std::vector<Tensor> gpu_everything(const LayerNorm& norm, const Tensor& residual, const Tensor& x,
                                   bool ours) {
  Tensor y, z;
  if (ours) {
    std::optional<PrecisionScope> scope;
    if (x.scalar_type() == at::kBFloat16) scope.emplace(Precision::BFloat16, x.device());
    if (residual.defined()) {
      const AddedNorm got = norm.add(residual, x, 0, nullptr);
      y = got.output, z = got.sum;
    } else {
      y = norm.forward(x);
    }
  } else {
    z = x.to(at::kFloat);
    if (residual.defined()) z = residual.to(at::kFloat) + z;
    y = at::layer_norm(z, {z.size(-1)}, norm.weight, norm.bias, norm.epsilon());
  }
  Tensor loss = (y * gpu_numbers(x.sizes(), 5).detach()).sum();
  std::vector<Tensor> inputs{x, norm.weight, norm.bias};
  if (residual.defined()) {
    loss = loss + (z * gpu_numbers(x.sizes(), 6).detach()).sum();
    inputs.push_back(residual);
  }
  std::vector<Tensor> results = torch::autograd::grad({loss}, inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(results[i].scalar_type(), inputs[i].scalar_type()) << i;
  results.push_back(y);
  if (residual.defined()) results.push_back(z);
  for (Tensor& result : results) result = result.to(at::kFloat);
  return results;
}

TEST(LayerNorm, GpuEqualsPyTorchs) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  for (const GpuTypes& types : {GpuTypes{at::kFloat, at::kFloat},
                                {at::kBFloat16, at::kFloat},
                                {at::kBFloat16, at::kBFloat16}})
    for (const int64_t width : {8, 128, 384, 512, 1024, 130, 2048})  // the last two do not fit
      for (const bool adds : {false, true}) {
        const LayerNorm norm = on_gpu(drawn(width));
        // More rows than one pass of all warps has, or fewer than a block's.
        const int64_t rows = width == 128 ? 5000 : width == 512 ? 5 : 300;
        const Tensor x = gpu_numbers({rows, width}, 3, types.x),
                     residual = adds ? gpu_numbers({rows, width}, 4, types.residual) : Tensor();
        const double bound = types.x == at::kFloat ? 1e-5 : 1e-2;
        EXPECT_LT(worst_difference(gpu_everything(norm, residual, x, true),
                                   gpu_everything(norm, residual, x, false)),
                  bound)
            << width << " wide, " << types.x << " + " << (adds ? toString(types.residual) : "none");
      }
}

TEST(LayerNorm, GpuTakesWhatDoesNotLieInOrder) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const LayerNorm norm = on_gpu(drawn(64));
  const Tensor flat = gpu_numbers({1 + 30 * 64}, 3).detach();
  const Tensor odd = flat.narrow(0, 1, 30 * 64).view({30, 64}),  // not at a multiple of 16 bytes
      turned = odd.t().contiguous().t();
  EXPECT_TRUE(torch::equal(norm.forward(odd), norm.forward(odd.clone())));
  EXPECT_TRUE(torch::equal(norm.forward(turned), norm.forward(odd.clone())));
}

TEST(LayerNorm, GpuDropsTheSameBackward) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const double rate = 0.3, scale = 1 / (1 - rate);
  const LayerNorm norm = on_gpu(drawn(512));
  const Random random(9);
  for (const auto type : {at::kFloat, at::kBFloat16})
    for (const bool normalised : {true, false}) {
      const Tensor x = at::ones({100, 512}, at::kCUDA).to(type).requires_grad_(),
                   residual = at::zeros({100, 512}, at::kCUDA).requires_grad_();
      const auto sum = [&](const Random& drawn_from) {
        return normalised ? norm.add(residual, x, rate, &drawn_from).sum
                          : add_dropped(residual, x, rate, &drawn_from);
      };
      const Tensor z = sum(random), dropped = z.eq(0);
      EXPECT_NEAR(dropped.to(at::kFloat).mean().item<double>(), rate, 0.01);
      EXPECT_LT((z - scale).abs().masked_fill(dropped, 0).max().item<double>(), 1e-6);
      EXPECT_TRUE(torch::equal(sum(random), z));
      EXPECT_FALSE(torch::equal(sum(Random(10)), z));
      const auto gradients = torch::autograd::grad({z.sum()}, {residual, x});
      EXPECT_TRUE(gradients[0].eq(1).all().item<bool>());
      EXPECT_TRUE(torch::equal(gradients[1].eq(0), dropped));
      EXPECT_LT(
          (gradients[1].to(at::kFloat) - scale).abs().masked_fill(dropped, 0).max().item<double>(),
          type == at::kFloat ? 1e-6 : 1e-2);
      if (!normalised) continue;
      const Tensor y = norm.add(residual, x, rate, &random).output;
      EXPECT_LT(worst_difference({y}, {at::layer_norm(z, {512}, norm.weight, norm.bias, 1e-5)}),
                1e-5);
    }
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
}  // namespace fovea::layer_norm_test
