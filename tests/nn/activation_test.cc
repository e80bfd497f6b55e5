#include "fovea/nn/ops/activation.h"

#include <torch/cuda.h>

#include <optional>

#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::activation_test {
namespace {

using at::Tensor;
using testing::expect_error;
using testing::gradient_error;
using testing::worst_difference;

constexpr Activation kKinds[] = {Activation::Relu, Activation::Gelu, Activation::Tanh};

Tensor numbers(at::IntArrayRef shape, uint64_t seed, at::ScalarType type = at::kFloat) {
  return Random(seed).normal_tensor(shape, 0, 1.5, at::TensorOptions(type)).requires_grad_();
}

/// The result of one of the two functions and its gradients.
std::vector<Tensor> everything(bool projection, const Tensor& x, const Tensor& weight,
                               const Tensor& bias, Activation kind) {
  const Tensor y = projection ? activated_projection(x, weight, bias, kind)
                              : activate(at::matmul(x, weight.t()), bias, kind);
  const Tensor by = numbers(y.sizes(), 9, y.scalar_type()).detach();
  std::vector<Tensor> results = torch::autograd::grad({(y * by).sum()}, {x, weight, bias});
  results.push_back(y);
  return results;
}

TEST(Activation, EqualsPyTorchsLinearAndActivation) {
  for (const Activation kind : kKinds)
    for (const auto& shape : {std::vector<int64_t>{6}, {5, 6}, {2, 40, 6}, {0, 6}, {3, 0, 6}})
      for (const bool projection : {false, true}) {
        const Tensor x = numbers(shape, 3), weight = numbers({19, 6}, 4), bias = numbers({19}, 5);
        const Tensor u = at::linear(x, weight, bias);
        const Tensor y = kind == Activation::Relu   ? u.relu()
                         : kind == Activation::Gelu ? at::gelu(u)
                                                    : u.tanh();
        const Tensor by = numbers(y.sizes(), 9).detach();
        std::vector<Tensor> expected = torch::autograd::grad({(y * by).sum()}, {x, weight, bias});
        expected.push_back(y);
        const std::vector<Tensor> got = everything(projection, x, weight, bias, kind);
        EXPECT_EQ(got.back().sizes(), y.sizes());
        EXPECT_LT(worst_difference(got, expected), 2e-6);
        const ReadableOnly readable;
        EXPECT_LT(worst_difference(got, everything(projection, x, weight, bias, kind)), 2e-6);
      }
}

TEST(Activation, DropoutIsThatOfCore) {
  const Random random(12);
  for (const Activation kind : kKinds) {
    const Tensor x = numbers({9, 5, 6}, 3), weight = numbers({70, 6}, 4), bias = numbers({70}, 5);
    const auto gradients = [&](const Tensor& y) {
      const Tensor by = numbers(y.sizes(), 9).detach();
      std::vector<Tensor> results = torch::autograd::grad({(y * by).sum()}, {x, weight, bias});
      results.push_back(y);
      return results;
    };
    const std::vector<Tensor> got =
        gradients(activated_projection(x, weight, bias, kind, 0.3, &random));
    const Tensor in_two = dropout(activated_projection(x, weight, bias, kind), 0.3, random);
    EXPECT_LT(worst_difference(got, gradients(in_two)), 2e-6);
    EXPECT_TRUE(torch::equal(activated_projection(x, weight, bias, kind, 0.3, nullptr),
                             activated_projection(x, weight, bias, kind)));
    const ReadableOnly readable;
    EXPECT_LT(
        worst_difference(got, gradients(activated_projection(x, weight, bias, kind, 0.3, &random))),
        2e-6);
  }
}

TEST(Activation, GradientsFollowFiniteDifferences) {
  const Random random(12);
  for (const Activation kind : kKinds) {
    const Tensor x = numbers({4, 6}, 3, at::kDouble), weight = numbers({5, 6}, 4, at::kDouble),
                 bias = numbers({5}, 5, at::kDouble);
    EXPECT_LT(gradient_error(
                  [&] {
                    return activated_projection(x, weight, bias, kind, 0.2, &random).square().sum();
                  },
                  {x, weight, bias}),
              1e-7);
    EXPECT_LT(
        gradient_error([&] { return activate(x.t(), x[0].narrow(0, 0, 4), kind).sum(); }, {x}),
        1e-7);
  }
}

TEST(Activation, GradientOfTheGradientGoesTheReadableWay) {
  for (const Activation kind : kKinds) {
    const Tensor x = numbers({4, 6}, 3), weight = numbers({6, 6}, 4), bias = numbers({6}, 5);
    const Random random(12);
    const auto second = [&] {
      const Tensor loss = activated_projection(x, weight, bias, kind, 0.2, &random).square().sum() +
                          activate(x, bias, kind).pow(3).sum();
      const auto first = torch::autograd::grad({loss}, {x, weight, bias}, {},
                                               /*retain_graph=*/true, /*create_graph=*/true);
      return torch::autograd::grad(
          {first[0].square().sum() + first[1].sin().sum() + first[2].square().sum()},
          {x, weight, bias});
    };
    const std::vector<Tensor> fast = second();
    const ReadableOnly readable;
    EXPECT_LT(worst_difference(fast, second()), 2e-5);
  }
}

TEST(Activation, SameBitsAtAnyNumberOfThreadsAndLayout) {
  for (const Activation kind : kKinds) {
    const Tensor x = numbers({200, 8}, 3), weight = numbers({70, 8}, 4), bias = numbers({70}, 5);
    const std::vector<Tensor> one = everything(false, x, weight, bias, kind);
    set_threads(3);
    const std::vector<Tensor> three = everything(false, x, weight, bias, kind);
    set_threads(1);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(torch::equal(one[i], three[i])) << i;
    const Tensor turned = x.detach().t().contiguous().t();
    EXPECT_TRUE(torch::equal(activate(turned, bias.narrow(0, 0, 8), kind),
                             activate(x, bias.narrow(0, 0, 8), kind)));
  }
}

Tensor gpu_numbers(at::IntArrayRef shape, uint64_t seed) {
  return numbers(shape, seed).detach().to(at::kCUDA).requires_grad_();
}

Tensor pytorchs(const Tensor& u, Activation kind) {
  return kind == Activation::Relu ? u.relu() : kind == Activation::Gelu ? at::gelu(u) : u.tanh();
}

/// The gradients of (y by) for what is defined of the inputs, and y, in float32.
std::vector<Tensor> gpu_results(const Tensor& y, const Tensor& by,
                                const std::vector<Tensor>& inputs) {
  std::vector<Tensor> defined;
  for (const Tensor& input : inputs)
    if (input.defined()) defined.push_back(input);
  std::vector<Tensor> results = torch::autograd::grad({(y * by).sum()}, defined);
  for (size_t i = 0; i < defined.size(); ++i)
    EXPECT_EQ(results[i].scalar_type(), defined[i].scalar_type()) << i;
  results.push_back(y.to(at::kFloat));
  return results;
}

TEST(Activation, GpuEqualsPyTorchs) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const at::Device gpu(at::kCUDA);
  for (const Activation kind : kKinds)
    for (const bool rounded : {false, true})
      for (const int64_t width : {8, 72, 512, 70})  // the last one does not fit
        for (const bool with_bias : {true, false}) {
          const Tensor x = gpu_numbers({3, 700, 40}, 3), weight = gpu_numbers({width, 40}, 4),
                       bias = with_bias ? gpu_numbers({width}, 5) : Tensor(),
                       by = gpu_numbers({3, 700, width}, 9).detach();
          // Rounded as the layer rounds, so that relu breaks at the same places.
          const auto same = [&](const Tensor& t) {
            return rounded ? t.to(at::kBFloat16).to(at::kFloat) : t;
          };
          Tensor u = same(at::matmul(same(x), same(weight).t()));
          if (with_bias) u = u + bias;
          const std::vector<Tensor> expected =
              gpu_results(pytorchs(u, kind), by, {x, weight, bias});
          Tensor y;
          {
            std::optional<PrecisionScope> scope;
            if (rounded) scope.emplace(Precision::BFloat16, gpu);
            y = activated_projection(x, weight, bias, kind);
          }
          const std::vector<Tensor> got = gpu_results(y, by, {x, weight, bias});
          // Other widths round the sum with the bias instead.
          if (!rounded || width != 70) {
            EXPECT_LT(worst_difference(got, expected), rounded ? 1e-2 : 1e-5)
                << int(kind) << ", " << width << " wide, " << (rounded ? "rounded" : "float32");
          }
          if (!with_bias || rounded) continue;
          const Tensor product = at::matmul(x, weight.t());
          EXPECT_LT(
              worst_difference(gpu_results(activate(product, bias, kind), by, {x, weight, bias}),
                               expected),
              1e-5);
        }
}

TEST(Activation, GpuDropsTheSameBackward) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const double rate = 0.3, scale = 1 / (1 - rate);
  const Random random(12);
  for (const Activation kind : kKinds)
    for (const bool rounded : {false, true}) {
      const Tensor x = gpu_numbers({500, 40}, 3), weight = gpu_numbers({72, 40}, 4),
                   bias = gpu_numbers({72}, 5), by = gpu_numbers({500, 72}, 9).detach();
      std::optional<PrecisionScope> scope;
      if (rounded) scope.emplace(Precision::BFloat16, x.device());
      const auto run = [&](const Random* from) {
        return activated_projection(x, weight, bias, kind, rate, from);
      };
      const Tensor y = run(&random), whole = run(nullptr);
      EXPECT_TRUE(torch::equal(run(&random), y));
      const Tensor kept = y.ne(0), counted = whole.ne(0);
      EXPECT_NEAR((kept & counted).sum().item<double>() / counted.sum().item<double>(), 1 - rate,
                  0.02);
      const Tensor mask = kept.to(at::kFloat) * scale;
      EXPECT_LT(worst_difference({y.to(at::kFloat)}, {whole.to(at::kFloat) * mask}),
                rounded ? 1e-2 : 1e-6);
      EXPECT_LT(worst_difference(gpu_results(y, by, {x, weight, bias}),
                                 gpu_results(whole * mask, by, {x, weight, bias})),
                rounded ? 1e-2 : 1e-5);
    }
}

TEST(Activation, RefusesWhatCannotWork) {
  EXPECT_EQ(activation_named("relu"), Activation::Relu);
  EXPECT_EQ(activation_named("gelu"), Activation::Gelu);
  expect_error(ErrorKind::InvalidArgument, {"no activation 'tanh'", "relu, gelu"},
               [] { activation_named("tanh"); });
  expect_error(ErrorKind::InvalidArgument, {"does not fit"}, [] {
    activate(at::zeros({2, 3}), at::zeros({4}), Activation::Relu);
  });
  expect_error(ErrorKind::InvalidArgument, {"was given a tensor of shape"}, [] {
    activated_projection(at::zeros({2, 3}), at::zeros({5, 4}), at::zeros({5}), Activation::Relu);
  });
  expect_error(ErrorKind::InvalidArgument, {"dropout rate"}, [] {
    activated_projection(at::zeros({2, 3}), at::zeros({5, 3}), at::zeros({5}), Activation::Relu, 1);
  });
}

}  // namespace
}  // namespace fovea::activation_test
