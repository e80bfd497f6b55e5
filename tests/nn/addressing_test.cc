// Each step of addressing against what it says, and against finite differences.
#include "fovea/nn/ops/addressing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::addressing_test {
namespace {

using namespace testing;

constexpr int64_t kBatch = 2, kHeads = 3, kSlots = 7, kWidth = 4;

at::Tensor normal(at::IntArrayRef shape, uint64_t seed) {
  return Random(seed).normal_tensor(shape, 0, 1, at::kDouble);
}

at::Tensor some_weights(uint64_t seed = 1) {
  return normal({kBatch, kHeads, kSlots}, seed).softmax(-1);
}

void expect_distributions(const at::Tensor& weights) {
  EXPECT_GE(weights.min().item<double>(), 0);
  EXPECT_LT(largest_difference(weights.sum(-1), torch::ones({kBatch, kHeads})), 1e-9);
}

TEST(Addressing, ContentIsTheSoftmaxOfCosines) {
  const at::Tensor memory = normal({kBatch, kSlots, kWidth}, 1);
  const at::Tensor key = normal({kBatch, kHeads, kWidth}, 2);
  const at::Tensor strength = normal({kBatch, kHeads, 1}, 3).exp();
  const at::Tensor weights = address_by_content(memory, key, strength);
  expect_distributions(weights);
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t h = 0; h < kHeads; ++h) {
      std::vector<double> scores;
      for (int64_t i = 0; i < kSlots; ++i) {
        double product = 0, of_key = 0, of_slot = 0;
        for (int64_t m = 0; m < kWidth; ++m) {
          const double k = key[b][h][m].item<double>(), v = memory[b][i][m].item<double>();
          product += k * v, of_key += k * k, of_slot += v * v;
        }
        scores.push_back(strength[b][h][0].item<double>() * product / std::sqrt(of_key * of_slot));
      }
      const at::Tensor expected = torch::tensor(scores, at::kDouble).softmax(0);
      EXPECT_LT(largest_difference(weights[b][h], expected), 1e-4) << "lengths are smoothed";
    }
}

TEST(Addressing, TheGateChoosesBetweenContentAndBefore) {
  const at::Tensor content = some_weights(1), before = some_weights(2);
  const auto gated = [&](double gate) {
    return gate_address(content, before, torch::full({kBatch, kHeads, 1}, gate, at::kDouble));
  };
  EXPECT_LT(largest_difference(gated(1), content), 1e-12);
  EXPECT_LT(largest_difference(gated(0), before), 1e-12);
  EXPECT_LT(largest_difference(gated(0.25), 0.25 * content + 0.75 * before), 1e-12);
}

TEST(Addressing, AShiftByOneTurnsTheWeights) {
  const at::Tensor weights = some_weights();
  for (int64_t by = -2; by <= 2; ++by) {
    at::Tensor shifts = torch::zeros({kBatch, kHeads, 5}, at::kDouble);
    shifts.select(-1, 2 + by).fill_(1);
    EXPECT_TRUE(shift_address(weights, shifts).equal(weights.roll(by, -1))) << by;
  }
  const at::Tensor shifts = normal({kBatch, kHeads, 3}, 4).softmax(-1);
  const at::Tensor shifted = shift_address(weights, shifts);
  expect_distributions(shifted);
  for (int64_t i = 0; i < kSlots; ++i) {  // w(i) = sum_j w(j) s((i - j) mod N)
    at::Tensor expected = torch::zeros({kBatch, kHeads}, at::kDouble);
    for (int64_t by = -1; by <= 1; ++by)
      expected =
          expected + weights.select(-1, (i - by + kSlots) % kSlots) * shifts.select(-1, 1 + by);
    EXPECT_LT(largest_difference(shifted.select(-1, i), expected), 1e-12);
  }
  expect_error(ErrorKind::InvalidArgument, "odd", [&] {
    shift_address(weights, torch::zeros({kBatch, kHeads, 2}, at::kDouble));
  });
}

TEST(Addressing, SharpnessOneIsIdentityAndMoreIsSharper) {
  const at::Tensor weights = some_weights();
  const auto sharpened = [&](double sharpness) {
    return sharpen_address(weights, torch::full({kBatch, kHeads, 1}, sharpness, at::kDouble));
  };
  EXPECT_LT(largest_difference(sharpened(1), weights), 1e-12);
  EXPECT_LT(largest_difference(sharpened(3), weights.pow(3) / weights.pow(3).sum(-1, true)), 1e-12);
  expect_distributions(sharpened(50));
  const at::Tensor far =
      sharpen_address(torch::full({1, 1, 128}, 1.0 / 128), torch::full({1, 1, 1}, 100.0));
  EXPECT_TRUE(far.isfinite().all().item<bool>()) << "(1/128)^100 is no float";
}

TEST(Addressing, AllStepsKeepDistributions) {
  const at::Tensor raw = 3 * normal({kBatch, kHeads, AddressParameters::size(kWidth, 1)}, 5);
  const AddressParameters parameters = AddressParameters::take(raw, kWidth, 1);
  EXPECT_EQ(parameters.key.size(-1), kWidth);
  EXPECT_EQ(parameters.shifts.size(-1), 3);
  EXPECT_GE(parameters.sharpness.min().item<double>(), 1);
  EXPECT_GT(parameters.strength.min().item<double>(), 0);
  expect_distributions(address(normal({kBatch, kSlots, kWidth}, 6), parameters, some_weights()));
  expect_error(ErrorKind::Internal, "parameters",
               [&] { AddressParameters::take(raw, kWidth + 1, 1); });
}

TEST(Addressing, GradientsEqualFiniteDifferences) {
  for (const double size : {1.0, 1e-3}) {  // nearly empty memory and keys too
    const at::Tensor memory = (size * normal({kBatch, kSlots, kWidth}, 1)).requires_grad_(true);
    const at::Tensor key = (size * normal({kBatch, kHeads, kWidth}, 2)).requires_grad_(true);
    const at::Tensor raw =
        normal({kBatch, kHeads, AddressParameters::size(kWidth, 1)}, 3).requires_grad_(true);
    const at::Tensor before = normal({kBatch, kHeads, kSlots}, 4).requires_grad_(true);
    const at::Tensor wanted = normal({kBatch, kHeads, kSlots}, 5);
    const auto loss = [&] {
      AddressParameters parameters = AddressParameters::take(raw, kWidth, 1);
      parameters.key = key;
      return (address(memory, parameters, before.softmax(-1)) * wanted).sum();
    };
    EXPECT_LT(gradient_error(loss, {memory, key, raw, before}, {3, 1e-5 * size, 1}), 1e-5) << size;
  }
}

TEST(Addressing, NothingInMemoryIsNoTrap) {
  const at::Tensor memory = torch::zeros({1, kSlots, kWidth}).requires_grad_(true);
  const at::Tensor key = torch::zeros({1, 1, kWidth}).requires_grad_(true);
  const at::Tensor weights = address_by_content(memory, key, torch::ones({1, 1, 1}));
  EXPECT_LT(largest_difference(weights, torch::full({1, 1, kSlots}, 1.0 / kSlots)), 1e-6);
  weights[0][0][0].backward();
  EXPECT_TRUE(memory.grad().isfinite().all().item<bool>());
  EXPECT_TRUE(key.grad().isfinite().all().item<bool>());
}

}  // namespace
}  // namespace fovea::addressing_test
