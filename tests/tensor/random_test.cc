#include "fovea/tensor/random.h"

#include <ATen/Parallel.h>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::random_test {
namespace {

using testing::expect_error;

using Block = std::array<uint32_t, 4>;

/// Philox4x32-10 once more, on arrays, as the paper writes it.
Block reference_philox(Block counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

TEST(Philox, PublishedKnownAnswers) {
  // From the test vectors of Random123, the authors' library.
  EXPECT_EQ(Random(0).words(0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(reference_philox({0, 0, 0, 0}, {0, 0}), Random(0).words(0));
  EXPECT_EQ(reference_philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      reference_philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, SeedIsTheKeyAndTheCounterItsLowHalf) {
  EXPECT_EQ(Random(0xFEDCBA9876543210).words(0x123456789ABCDEF0),
            (Block{0x3640118f, 0x61176af1, 0xdd5de1bb, 0xe7238f40}));
  for (uint64_t i = 0; i < 200; ++i) {
    const uint64_t key = i * 0x9E3779B97F4A7C15, counter = i * 0xD1B54A32D192ED03;
    EXPECT_EQ(Random(key).words(counter),
              reference_philox({uint32_t(counter), uint32_t(counter >> 32), 0, 0},
                               {uint32_t(key), uint32_t(key >> 32)}));
  }
}

// The numbers below are the same on every machine; tests/fixtures/core/philox.py prints them from a
// second implementation.
TEST(Random, PinnedNumbers) {
  const Random random(42);
  const double uniforms[] = {0x1.39d5e0a6efea9p-1, 0x1.f9b6424ea774dp-1, 0x1.a6d8044b510ebp-1,
                             0x1.758e08eb575e1p-1};
  const double normals[] = {0x1.25ee4fdbb73d7p-2, 0x1.1fc56619bc882p+1, 0x1.e03bf1037bc99p-1,
                            0x1.3923d3ae36adap-1};
  const uint64_t below[] = {6, 9, 8, 7, 3, 3, 2, 3, 5, 2, 5, 3, 3, 2, 2, 7};
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(random.uniform(i), uniforms[i]) << i;
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(random.normal(i), normals[i]) << i;
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(random.below(i, 10), below[i]) << i;
  EXPECT_EQ(random.below(7, (uint64_t{1} << 63) + 1), 3305292313017460290u);
  EXPECT_EQ(random.permutation(10), (std::vector<int64_t>{1, 0, 6, 8, 7, 9, 5, 4, 2, 3}));
  EXPECT_EQ(random.split("dropout").key(), 0xd3bb639a6a7127c1u);
  EXPECT_EQ(random.split(3).key(), 0xada1d2d9a555d5eeu);
  EXPECT_EQ(random.key(), 42u);
}

TEST(Random, ChildrenAreUnrelated) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (uint64_t index = 0; index < 50; ++index) {
      keys.insert(Random(seed).split(index).key());
      keys.insert(Random(seed).split(std::to_string(index)).key());
    }
  EXPECT_EQ(keys.size(), 2000u);
  const Random root(1);
  EXPECT_EQ(root.split("a").split("b").key(), Random(1).split("a").split("b").key());
  EXPECT_NE(root.split("a").split("b").key(), root.split("b").split("a").key());
  EXPECT_NE(root.split("").key(), root.split(uint64_t{0}).key());
}

/// Mean of the products of two columns of normal deviates.
double correlation(const Random& a, const Random& b, uint64_t shift) {
  constexpr uint64_t kCount = 50'000;
  double sum = 0;
  for (uint64_t i = 0; i < kCount; ++i) sum += a.normal(i) * b.normal(i + shift);
  return sum / kCount;
}

TEST(Random, StreamsAndNeighboursDoNotCorrelate) {
  const Random root(5);
  EXPECT_LT(std::abs(correlation(root.split("a"), root.split("b"), 0)), 0.02);  // 4.5 deviations
  EXPECT_LT(std::abs(correlation(Random(0), Random(1), 0)), 0.02);
  EXPECT_LT(std::abs(correlation(root, root, 1)), 0.02);
}

TEST(Random, UniformFillsItsRangeEvenly) {
  constexpr uint64_t kCount = 200'000;
  double sum = 0, squares = 0;
  int bins[20] = {};
  for (uint64_t i = 0; i < kCount; ++i) {
    const double u = Random(7).uniform(i);
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u, squares += u * u, ++bins[int(u * 20)];
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.003);
  EXPECT_NEAR(squares / kCount - std::pow(sum / kCount, 2), 1.0 / 12, 0.001);
  for (const int bin : bins) EXPECT_NEAR(bin, 10'000, 500);
}

TEST(Random, NormalHasTheMomentsAndTailsOfANormal) {
  constexpr uint64_t kCount = 200'000;
  double moments[5] = {};
  int beyond[4] = {};
  for (uint64_t i = 0; i < kCount; ++i) {
    const double x = Random(8).normal(i);
    for (int power = 1; power <= 4; ++power) moments[power] += std::pow(x, power) / kCount;
    for (int limit = 1; limit <= 3; ++limit) beyond[limit] += std::abs(x) > limit;
  }
  EXPECT_NEAR(moments[1], 0, 0.01);
  EXPECT_NEAR(moments[2], 1, 0.015);
  EXPECT_NEAR(moments[3], 0, 0.04);
  EXPECT_NEAR(moments[4], 3, 0.12);
  for (int limit = 1; limit <= 3; ++limit) {
    const double expected = kCount * std::erfc(limit / std::sqrt(2.0));
    EXPECT_NEAR(beyond[limit], expected, 5 * std::sqrt(expected)) << limit;
  }
}

/// The share of a normal distribution on the outer side of x.
double outer_share(double x) {
  return 0.5 * std::erfc(std::abs(x) / std::sqrt(2.0));
}

/// What normal() turns into a deviate, as the share on the outer side.
double drawn_share(const Random& random, uint64_t counter) {
  const auto block = random.words(counter);
  uint64_t bits = (uint64_t{block[0]} << 32 | block[1]) >> 12;
  if (bits >> 51) bits = ~bits & ((uint64_t{1} << 52) - 1);
  return (double(bits) + 0.5) * 0x1p-52;
}

TEST(Random, NormalIsTheQuantileOfItsUniform) {
  double worst = 0;
  for (uint64_t i = 0; i < 200'000; ++i) {
    const double share = drawn_share(Random(9), i), x = Random(9).normal(i);
    worst = std::max(worst, std::abs(outer_share(x) / share - 1));
  }
  EXPECT_LT(worst, 1e-13);
}

TEST(Random, NormalIsAccurateFarOut) {
  // Searched for: fewer than one counter in thirty thousand million leads this far out, where a
  // formula of its own holds.
  const double x = Random(0).normal(134'575'183'108);
  EXPECT_EQ(x, -0x1.ba203760c3c94p+2);
  EXPECT_NEAR(outer_share(x) / drawn_share(Random(0), 134'575'183'108), 1, 1e-12);
}

TEST(Random, BelowIsEvenAndStaysBelow) {
  int counts[7] = {};
  for (uint64_t i = 0; i < 70'000; ++i) ++counts[Random(3).below(i, 7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(Random(3).below(i, 1), 0u);
    EXPECT_LT(Random(3).below(i, ~uint64_t{0}), ~uint64_t{0});
  }
}

TEST(Random, PermutationHoldsEveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 3, 10, 1000}) {
    std::vector<int64_t> order = Random(4).permutation(count), all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), int64_t{0});
    if (count == 1000) {
      EXPECT_NE(order, all);
      EXPECT_NE(order, Random(5).permutation(count));
    }
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all);
  }
}

TEST(Random, PermutationsAreAllEquallyLikely) {
  std::map<std::vector<int64_t>, int> counts;
  for (uint64_t seed = 0; seed < 24'000; ++seed) ++counts[Random(6).split(seed).permutation(4)];
  EXPECT_EQ(counts.size(), 24u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 160);  // 5 deviations
}

TEST(RandomTensor, ElementsAreTheScalarsAtTheirIndex) {
  const Random random(10);
  const auto doubles = torch::TensorOptions().dtype(torch::kFloat64);
  const at::Tensor uniform = random.uniform_tensor({3, 5}, -2, 4, doubles);
  const at::Tensor normal = random.normal_tensor({3, 5}, 10, 0.5, doubles);
  for (int64_t i = 0; i < 15; ++i) {
    EXPECT_EQ(uniform.flatten()[i].item<double>(), -2 + 6 * random.uniform(uint64_t(i)));
    EXPECT_EQ(normal.flatten()[i].item<double>(), 10 + 0.5 * random.normal(uint64_t(i)));
  }
  EXPECT_EQ(uniform.sizes(), (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(random.normal_tensor({2}, 0, 1, torch::kFloat32).scalar_type(), torch::kFloat32);
  EXPECT_EQ(random.normal_tensor({2}, 0, 1, torch::kBFloat16).scalar_type(), torch::kBFloat16);
  EXPECT_EQ(random.uniform_tensor({0, 4}, 0, 1, doubles).numel(), 0);
  EXPECT_EQ(random.uniform_tensor({}, 0, 1, doubles).item<double>(), random.uniform(0));
}

TEST(RandomTensor, DoesNotDependOnTheNumberOfThreads) {
  const int before = at::get_num_threads();
  std::vector<at::Tensor> uniform, normal;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    uniform.push_back(Random(11).uniform_tensor({100'001}, 0, 1, torch::kFloat32));
    normal.push_back(Random(11).normal_tensor({100'001}, 0, 1, torch::kFloat64));
  }
  at::set_num_threads(before);
  EXPECT_TRUE(torch::equal(uniform[0], uniform[1]));
  EXPECT_TRUE(torch::equal(normal[0], normal[1]));
}

TEST(RandomTensor, BernoulliKeepsTheAskedShare) {
  const at::Tensor kept = Random(12).bernoulli_tensor({100, 1000}, 0.3, torch::kFloat32);
  EXPECT_NEAR(kept.mean().item<double>(), 0.3, 0.008);
  EXPECT_TRUE(kept.eq(0).logical_or(kept.eq(1)).all().item<bool>());
  EXPECT_EQ(Random(12).bernoulli_tensor({1000}, 0, torch::kFloat32).sum().item<double>(), 0);
  EXPECT_EQ(Random(12).bernoulli_tensor({1000}, 1, torch::kFloat32).sum().item<double>(), 1000);
}

TEST(Dropout, ZeroesAShareAndScalesTheRest) {
  const at::Tensor x = torch::full({200, 500}, 3.0, torch::kFloat64).requires_grad_();
  const at::Tensor y = dropout(x, 0.25, Random(13));
  EXPECT_NEAR(y.eq(0).to(torch::kFloat64).mean().item<double>(), 0.25, 0.007);
  EXPECT_TRUE(y.eq(0).logical_or(y.eq(4)).all().item<bool>());
  EXPECT_NEAR(y.mean().item<double>(), 3, 0.03);
  const at::Tensor slope = torch::autograd::grad({y.sum()}, {x})[0];
  EXPECT_TRUE(torch::equal(slope, y.detach() / 3));
  EXPECT_TRUE(torch::equal(dropout(x, 0.25, Random(13)), y)) << "the same stream, the same zeros";
  EXPECT_FALSE(torch::equal(dropout(x, 0.25, Random(14)), y));
}

/// Whether an element is dropped, from the rule of kernels/dropout.h.
bool is_dropped(double rate, const Random& random, uint64_t row, uint64_t column) {
  const uint64_t key = random.key(), low = column / 64 * 16 + column % 16;
  const Block block =
      reference_philox({uint32_t(low), uint32_t(low >> 32), uint32_t(row), uint32_t(row >> 32)},
                       {uint32_t(key), uint32_t(key >> 32)});
  return block[column % 64 / 16] < uint64_t(std::llround(rate * 4294967296.0));
}

TEST(Dropout, FollowsItsRuleForEveryElementType) {
  const Random random = Random(15).split("dropout");
  for (const auto type : {torch::kFloat32, torch::kFloat64, torch::kBFloat16}) {
    const at::Tensor x = torch::ones({2, 3, 70}, type);
    const at::Tensor y = dropout(x, 0.5, random).to(torch::kFloat64).view({6, 70});
    EXPECT_EQ(dropout(x, 0.5, random).scalar_type(), type);
    for (int64_t row = 0; row < 6; ++row)
      for (int64_t column = 0; column < 70; ++column)
        EXPECT_EQ(y[row][column].item<double>(),
                  is_dropped(0.5, random, uint64_t(row), uint64_t(column)) ? 0 : 2);
  }
}

TEST(Dropout, LayoutAndThreadsDoNotMatter) {
  const at::Tensor x = torch::rand({300, 1000});
  const at::Tensor y = dropout(x, 0.1, Random(16));
  EXPECT_TRUE(torch::equal(dropout(x.t().contiguous().t(), 0.1, Random(16)), y));
  EXPECT_TRUE(torch::equal(dropout(x.to(torch::kFloat64), 0.1, Random(16)).eq(0), y.eq(0)));
  set_threads(3);
  const at::Tensor again = dropout(x, 0.1, Random(16));
  set_threads(1);
  EXPECT_TRUE(torch::equal(again, y));
}

TEST(Dropout, EveryShape) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    EXPECT_EQ(dropout(torch::ones({}, type), 0.5, Random(1)).dim(), 0);
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{0}, {0, 3}, {3, 0}, {1, 1}, {2, 1, 5, 3}})
      EXPECT_EQ(dropout(torch::ones(shape, type), 0.5, Random(1)).sizes(), shape);
  }
}

TEST(Dropout, GradientPassesWhereTheElementDidTwiceOver) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const at::Tensor x = torch::rand({20, 30}, type).add_(1).requires_grad_();
    const at::Tensor y = dropout(x, 0.25, Random(17));
    const at::Tensor slope = torch::autograd::grad({y.square().sum()}, {x}, {}, true, true)[0];
    EXPECT_TRUE(torch::allclose(slope, 2 * y / 0.75, 1e-6));
    const at::Tensor bend = torch::autograd::grad({slope.sum()}, {x})[0];
    EXPECT_TRUE(torch::allclose(bend, y.ne(0).to(type) * (2 / 0.75 / 0.75), 1e-6));
  }
}

TEST(Dropout, WhatIsDroppedIsZeroWhateverItWas) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const at::Tensor kept = dropout(torch::ones({100}, type), 0.5, Random(18)).ne(0);
    const at::Tensor y = dropout(torch::full({100}, NAN, type), 0.5, Random(18));
    EXPECT_TRUE(torch::equal(y.isnan(), kept));
    EXPECT_TRUE(torch::equal(y.eq(0), kept.logical_not()));
  }
}

TEST(Dropout, RateZeroIsTheIdentityAndRatesOutsideAreRefused) {
  const at::Tensor x = torch::rand({3});
  EXPECT_TRUE(dropout(x, 0, Random(1)).is_same(x));
  for (const double rate : {-0.1, 1.0, 1.5, double(NAN)})
    expect_error(ErrorKind::InvalidArgument, {"dropout rate"},
                 [&] { dropout(x, rate, Random(1)); });
}

}  // namespace
}  // namespace fovea::random_test
