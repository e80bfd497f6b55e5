#include "fovea/nn/ops/cross_entropy.h"

#include <torch/cuda.h>

#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::cross_entropy_test {
namespace {

using at::Tensor;
using testing::expect_error;
using testing::gradient_error;

constexpr int64_t kPadding = 2;

Tensor numbers(at::IntArrayRef shape, uint64_t seed, at::ScalarType type = at::kFloat) {
  return Random(seed).normal_tensor(shape, 0, 1.5, at::TensorOptions(type)).requires_grad_();
}

/// About a fifth of them padding.
Tensor drawn_targets(int64_t rows, int64_t classes) {
  const Tensor targets =
      Random(7).uniform_tensor({rows}, 0, double(classes), at::kDouble).floor().to(at::kLong);
  return at::where(Random(8).bernoulli_tensor({rows}, 0.2, at::kFloat).eq(1),
                   at::full({}, kPadding, at::kLong), targets);
}

double worst(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return testing::worst_difference(a, b, 1e-2);
}

TEST(CrossEntropy, EqualsPyTorchs) {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const double smoothing : {0.0, 0.1})
      for (const int64_t classes : {3, 17, 500}) {
        const Tensor logits = numbers({60, classes}, 3, type), targets = drawn_targets(60, classes);
        const Tensor loss = cross_entropy(logits, targets, {smoothing, kPadding});
        const Tensor expected =
            at::cross_entropy_loss(logits, targets, {}, at::Reduction::Mean, kPadding, smoothing);
        EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-6 * expected.item<double>());
        EXPECT_EQ(loss.scalar_type(), type);
        EXPECT_EQ(loss.dim(), 0);
        EXPECT_LT(worst(torch::autograd::grad({loss * 3}, {logits}),
                        torch::autograd::grad({expected * 3}, {logits})),
                  2e-6);
      }
}

TEST(CrossEntropy, GpuEqualsPyTorchs) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  for (const auto type : {at::kFloat, at::kBFloat16})
    for (const double smoothing : {0.0, 0.1})
      for (const int64_t classes : {3, 17, 500, 4096}) {  // whole packs of numbers, and not
        const Tensor logits = numbers({60, classes}, 3).detach().to(type).to(at::kCUDA);
        logits.requires_grad_();
        const Tensor wide = logits.detach().to(at::kFloat).requires_grad_(),
                     targets = drawn_targets(60, classes).to(at::kCUDA);
        const Tensor loss = cross_entropy(logits, targets, {smoothing, kPadding});
        const Tensor expected =
            at::cross_entropy_loss(wide, targets, {}, at::Reduction::Mean, kPadding, smoothing);
        EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5 * expected.item<double>());
        const Tensor own = torch::autograd::grad({loss * 3}, {logits})[0].to(at::kFloat),
                     others = torch::autograd::grad({expected * 3}, {wide})[0];
        const double rounding = type == at::kFloat ? 1e-5 : 4e-3;  // bfloat16 has 8 bits
        EXPECT_LT((own - others).abs().div(others.abs().max()).max().item<double>(), rounding);
      }
}

TEST(CrossEntropy, WeightsMakeAWeightedMean) {
  const Tensor logits = numbers({6, 9}, 3, at::kDouble), targets = drawn_targets(6, 9);
  const Tensor weights = torch::tensor({1.0, 0.0, 2.0, 0.5, 1.0, 3.0});
  double sum = 0, total = 0;
  for (int64_t row = 0; row < 6; ++row) {
    if (targets[row].item<int64_t>() == kPadding) continue;
    const double weight = weights[row].item<double>();
    sum +=
        weight * cross_entropy(logits.narrow(0, row, 1), targets.narrow(0, row, 1), {0.1, kPadding})
                     .item<double>();
    total += weight;
  }
  const CrossEntropyOptions options{0.1, kPadding};
  EXPECT_NEAR(cross_entropy(logits, targets, options, weights).item<double>(), sum / total, 1e-12);
  EXPECT_NEAR(cross_entropy(logits.to(at::kFloat), targets, options, weights).item<double>(),
              sum / total, 1e-6);
}

/// The loss and its gradients through the output layer.
std::vector<Tensor> projected(const Tensor& hidden, const OutputLayer& layer, const Tensor& targets,
                              const Tensor& weights) {
  const Tensor loss = cross_entropy(hidden, layer, targets, {0.1, kPadding}, weights);
  std::vector<Tensor> leaves{hidden, layer.weight};
  if (layer.bias.defined()) leaves.push_back(layer.bias);
  std::vector<Tensor> results = torch::autograd::grad({loss * 2}, leaves);
  results.push_back(loss);
  return results;
}

TEST(CrossEntropy, KernelAndReadablePathAgree) {
  for (const int64_t rows : {0, 1, 5, 512, 1100})  // more than one piece, too
    for (const bool bias : {false, true}) {
      const Tensor hidden = numbers({rows, 12}, 3), targets = drawn_targets(rows, 37);
      const OutputLayer layer{numbers({37, 12}, 4), bias ? numbers({37}, 5) : Tensor()};
      const Tensor weights = bias ? Random(6).uniform_tensor({rows}, 0, 2, at::kFloat) : Tensor();
      const std::vector<Tensor> fast = projected(hidden, layer, targets, weights);
      const Tensor logits = at::linear(hidden, layer.weight, layer.bias);
      const Tensor in_two = cross_entropy(logits, targets, {0.1, kPadding}, weights);
      const ReadableOnly readable;
      const std::vector<Tensor> expected = projected(hidden, layer, targets, weights);
      EXPECT_LT(worst(fast, expected), 3e-6) << rows << " rows";
      EXPECT_LT(worst({in_two}, {expected.back()}), 1e-6) << rows << " rows";
    }
}

TEST(CrossEntropy, GradientsFollowFiniteDifferences) {
  const Tensor hidden = numbers({7, 5}, 3, at::kDouble), targets = drawn_targets(7, 11);
  const OutputLayer layer{numbers({11, 5}, 4, at::kDouble), numbers({11}, 5, at::kDouble)};
  const auto loss = [&] { return cross_entropy(hidden, layer, targets, {0.2, kPadding}); };
  EXPECT_LT(gradient_error(loss, {hidden, layer.weight, layer.bias}), 1e-7);
}

TEST(CrossEntropy, GradientOfTheGradientGoesTheReadableWay) {
  const Tensor hidden = numbers({7, 5}, 3), targets = drawn_targets(7, 11);
  const OutputLayer layer{numbers({11, 5}, 4), numbers({11}, 5)};
  const auto second = [&] {
    const Tensor loss =
        cross_entropy(hidden, layer, targets, {0.1, kPadding}) +
        cross_entropy(at::linear(hidden, layer.weight), targets, {0.1, kPadding}).square();
    const auto first = torch::autograd::grad({loss}, {hidden, layer.weight, layer.bias}, {},
                                             /*retain_graph=*/true, /*create_graph=*/true);
    return torch::autograd::grad(
        {first[0].square().sum() + first[1].square().sum() + first[2].sin().sum()},
        {hidden, layer.weight, layer.bias});
  };
  const std::vector<Tensor> fast = second();
  const ReadableOnly readable;
  EXPECT_LT(worst(fast, second()), 1e-5);
}

TEST(CrossEntropy, PaddingMayHoldAnything) {
  const Tensor targets = torch::tensor({int64_t{4}, kPadding, int64_t{0}});
  const Tensor plain = numbers({3, 6}, 3), poisoned = plain.detach().clone();
  poisoned[1].fill_(NAN);
  poisoned.requires_grad_();
  const Tensor loss = cross_entropy(poisoned, targets, {0.1, kPadding});
  EXPECT_EQ(loss.item<float>(), cross_entropy(plain, targets, {0.1, kPadding}).item<float>());
  const Tensor gradient = torch::autograd::grad({loss}, {poisoned})[0];
  EXPECT_TRUE(gradient[1].eq(0).all().item<bool>());
  EXPECT_TRUE(testing::all_finite(gradient));
}

TEST(CrossEntropy, NothingThatCountsGivesZero) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const Tensor logits = numbers({3, 6}, 3, type), targets = at::full({3}, kPadding, at::kLong);
    const Tensor loss = cross_entropy(logits, targets, {0.1, kPadding});
    EXPECT_EQ(loss.item<double>(), 0);
    EXPECT_TRUE(torch::autograd::grad({loss}, {logits})[0].eq(0).all().item<bool>());
  }
}

TEST(CrossEntropy, SameBitsAtAnyNumberOfThreadsAndTwice) {
  const Tensor hidden = numbers({200, 16}, 3), targets = drawn_targets(200, 300);
  const OutputLayer layer{numbers({300, 16}, 4), Tensor()};
  const std::vector<Tensor> one = projected(hidden, layer, targets, {});
  set_threads(3);
  const std::vector<Tensor> three = projected(hidden, layer, targets, {});
  set_threads(1);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(torch::equal(one[i], three[i])) << i;
  const Tensor loss = cross_entropy(hidden, layer, targets, {0.1, kPadding});
  const auto again = [&] { return torch::autograd::grad({loss * 2}, {hidden}, {}, true)[0]; };
  EXPECT_TRUE(torch::equal(again(), one[0]));
  EXPECT_TRUE(torch::equal(again(), one[0])) << "the first call spoiled what was kept";
}

TEST(CrossEntropy, RefusesWhatCannotWork) {
  const Tensor logits = at::zeros({2, 3}), targets = at::zeros({2}, at::kLong);
  const auto refused = [&](const char* words, const Tensor& x, const Tensor& t, double smoothing,
                           const Tensor& w) {
    expect_error(ErrorKind::InvalidArgument, {words}, [&] {
      cross_entropy(x, t, {smoothing, -100}, w);
    });
  };
  refused("label smoothing", logits, targets, 1, {});
  refused("label smoothing", logits, targets, -0.1, {});
  refused("[rows, classes]", at::zeros({2}), targets, 0, {});
  refused("[rows, classes]", at::zeros({2, 0}), targets, 0, {});
  refused("as many int64 targets", logits, at::zeros({3}, at::kLong), 0, {});
  refused("as many int64 targets", logits, at::zeros({2}), 0, {});
  refused("as many weights", logits, targets, 0, at::ones({3}));
  refused("not among the 3 classes", logits, at::full({2}, 3, at::kLong), 0, {});
  refused("not among the 3 classes", logits, at::full({2}, -1, at::kLong), 0, {});
  expect_error(ErrorKind::InvalidArgument, {"cannot take hidden states"}, [&] {
    cross_entropy(at::zeros({2, 4}), OutputLayer{at::zeros({3, 5}), {}}, targets, {});
  });
}

}  // namespace
}  // namespace fovea::cross_entropy_test
