#include "fovea/attention/normaliser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "tests/attention/cases.h"
#include "tests/support/gradient_check.h"

namespace fovea::normaliser_test {
namespace {

using testing::distance;
using testing::numbers;

NormaliserOptions named(const std::string& name, double temperature = 0.5, int64_t top_k = 2) {
  return {name, temperature, top_k};
}

at::Tensor row(std::vector<double> values) {
  return at::tensor(values, at::kDouble).view({1, 1, 1, static_cast<int64_t>(values.size())});
}

at::Tensor weights_of(const NormaliserOptions& options, const at::Tensor& scores,
                      const KeepMask& mask = {}) {
  return normalise(options, {scores, mask, Random(1), {}}).weights;
}

const at::Tensor kScores = numbers({2, 2, 3, 5}, "scores");

TEST(Normaliser, SoftmaxSparsemaxAndTopKIgnoreAShift) {
  for (const auto& name : {"softmax", "temperature", "top-k", "sparsemax"})
    EXPECT_LT(distance(weights_of(named(name), kScores), weights_of(named(name), kScores + 100)),
              1e-12)
        << name;
  EXPECT_GT(distance(weights_of(named("smoothing"), kScores),
                     weights_of(named("smoothing"), kScores + 3)),
            1e-2);
}

TEST(Normaliser, LargeScoresStayFinite) {
  for (const auto& entry : normaliser_table()) {
    const auto weights = weights_of(named(entry.name), row({1e4, -1e4, 9e3}));
    EXPECT_TRUE(testing::all_finite(weights)) << entry.name;
    if (entry.kind == MapKind::Distribution) {
      EXPECT_NEAR(weights.sum().item<double>(), 1, 1e-12) << entry.name;
    }
  }
  EXPECT_NEAR(weights_of(named("smoothing"), row({-2000, -2000})).sum().item<double>(), 1, 1e-12)
      << "every sigmoid underflows here";
}

TEST(Normaliser, SmoothingIsSigmoidOverItsSum) {
  const auto gates = at::sigmoid(kScores);
  EXPECT_LT(distance(weights_of(named("smoothing"), kScores), gates / gates.sum(-1, true)), 1e-14);
  EXPECT_LT(distance(weights_of(named("gate"), kScores), gates), 1e-14);
}

TEST(Normaliser, SparsemaxMatchesKnownSolutions) {
  EXPECT_LT(distance(weights_of(named("sparsemax"), row({0.5, 0.5, -3})), row({0.5, 0.5, 0})),
            1e-14);
  EXPECT_LT(distance(weights_of(named("sparsemax"), row({2, 0, 0})), row({1, 0, 0})), 1e-14);
  // tau = (1.1 + 1.0 + 0.2 - 1) / 3 = 0.4333 exceeds 0.2, so two remain: tau = 0.55.
  EXPECT_LT(distance(weights_of(named("sparsemax"), row({1.1, 0.2, 1.0})), row({0.55, 0, 0.45})),
            1e-14);
  EXPECT_LT(
      distance(weights_of(named("sparsemax"), row({1, 1, 1, 1})), row({0.25, 0.25, 0.25, 0.25})),
      1e-14);
  const auto first_two = KeepMask::from_keep((at::tensor({1, 1, 0}, at::kInt) != 0).view({1, 3}));
  EXPECT_LT(distance(weights_of(named("sparsemax"), row({0.1, 0.2, 50}), first_two),
                     row({0.45, 0.55, 0})),
            1e-14);
}

TEST(Normaliser, TopKKeepsExactlyK) {
  for (int64_t k = 1; k <= 7; ++k) {
    const auto weights = weights_of(named("top-k", 1, k), kScores);
    EXPECT_TRUE(((weights > 0).sum(-1) == std::min<int64_t>(k, 5)).all().item<bool>()) << k;
    EXPECT_LT(distance(weights.sum(-1), at::ones({2, 2, 3}, at::kDouble)), 1e-12);
  }
  EXPECT_LT(distance(weights_of(named("top-k", 1, 5), kScores), at::softmax(kScores, -1)), 1e-14);
  EXPECT_EQ((weights_of(named("top-k", 1, 2), row({1, 1, 1, 1})) > 0).sum().item<int64_t>(), 2)
      << "ties";
  const auto one = KeepMask::from_lengths(at::tensor({1}, at::kLong), 3);
  EXPECT_LT(distance(weights_of(named("top-k", 1, 2), row({0, 9, 9}), one), row({1, 0, 0})), 1e-14);
}

TEST(Normaliser, TemperatureHasItsLimits) {
  EXPECT_LT(distance(weights_of(named("temperature", 1), kScores), at::softmax(kScores, -1)),
            1e-14);
  EXPECT_LT(distance(weights_of(named("temperature", 1e9), kScores), at::full_like(kScores, 0.2)),
            1e-8)
      << "hot: uniform";
  const auto best = at::zeros_like(kScores).scatter(-1, kScores.argmax(-1, true), 1);
  EXPECT_LT(distance(weights_of(named("temperature", 1e-4), kScores), best), 1e-12)
      << "cold: argmax";
}

/// Scores repeated n times along B, and how often each key was drawn: [K].
at::Tensor frequencies(const std::string& name, const at::Tensor& scores, const KeepMask& mask,
                       int64_t n) {
  const auto many = scores.expand({n, 1, 1, scores.size(-1)});
  return normalise(named(name, 1e-3), {many, mask, Random(3), {}}).weights.mean({0, 1, 2});
}

TEST(Normaliser, DrawsComeAsOftenAsTheirWeight) {
  const auto scores = row({0.3, -0.5, 1.2, 0.0, 2.0});
  const auto keep = (at::tensor({1, 1, 1, 0, 1}, at::kInt) != 0).view({1, 5});
  const auto mask = KeepMask::from_keep(keep);
  const auto expected = masked_softmax(scores, mask).flatten();
  const int64_t n = 40000;
  for (const auto& name : {"hard", "gumbel"}) {
    const auto found = frequencies(name, scores, mask, n);
    EXPECT_EQ(found[3].item<double>(), 0) << name;
    EXPECT_LT(distance(found, expected), 4 * 0.5 / std::sqrt(static_cast<double>(n))) << name;
  }
}

TEST(Normaliser, HardGivesOneHotAndItsLogProbability) {
  const auto mask = KeepMask::from_lengths(at::tensor({5, 0}, at::kLong), 5);
  const auto out = normalise(named("hard"), {kScores, mask, Random(2), {}});
  EXPECT_TRUE(at::equal(out.weights[0].sum(-1), at::ones({2, 3}, at::kDouble)));
  EXPECT_TRUE(at::equal(out.weights[0].argmax(-1), out.chosen[0]));
  const auto logs =
      at::log_softmax(kScores[0], -1).gather(-1, out.chosen[0].unsqueeze(-1)).squeeze(-1);
  EXPECT_LT(distance(out.log_probability[0], logs), 1e-14);
  EXPECT_EQ(testing::largest(out.log_probability[1]), 0) << "fully masked";
  EXPECT_EQ(testing::largest(out.weights[1]), 0);
}

TEST(Normaliser, WithoutRandomTheMostLikelyKeyIsTaken) {
  for (const auto& name : {"hard", "gumbel"})
    EXPECT_TRUE(at::equal(normalise(named(name), {kScores, {}, {}, {}}).chosen, kScores.argmax(-1)))
        << name;
}

TEST(Normaliser, ChoicesCanBeRepeated) {
  for (const auto& name : {"hard", "gumbel"}) {
    const auto first = normalise(named(name), {kScores, {}, Random(9), {}});
    const auto again = normalise(named(name), {kScores, {}, Random(10), first.chosen});
    EXPECT_TRUE(at::equal(first.weights, again.weights)) << name;
    const auto outside = at::full({2, 2, 3}, 5, at::kLong);
    EXPECT_THROW(normalise(named(name), {kScores, {}, {}, outside}), Error);
    const auto mask = KeepMask::from_lengths(at::tensor({4, 4}, at::kLong), 5);
    EXPECT_THROW(normalise(named(name), {kScores, mask, {}, at::full({2, 2, 3}, 4, at::kLong)}),
                 Error);
  }
}

TEST(Normaliser, ReinforceIsUnbiased) {
  // E[R(k) d log p(k)] enumerated over all keys equals the gradient of E[R] = sum p R.
  const auto scores = row({0.4, -1.0, 0.7, 0.1}).requires_grad_();
  const auto reward = at::tensor({1.0, -2.0, 0.5, 3.0}, at::kDouble);
  const auto p = at::softmax(scores.detach().flatten(), -1);
  auto enumerated = at::zeros_like(scores);
  for (int64_t k = 0; k < 4; ++k) {
    const auto out = normalise(named("hard"), {scores, {}, {}, at::full({1, 1, 1}, k, at::kLong)});
    enumerated +=
        p[k] * reward[k] * torch::autograd::grad({out.log_probability.sum()}, {scores})[0];
  }
  const auto exact = torch::autograd::grad({(at::softmax(scores, -1) * reward).sum()}, {scores})[0];
  EXPECT_LT(distance(enumerated, exact), 1e-14);
  // And the mean over real draws goes to the same vector.
  const int64_t n = 40000;
  const auto many = scores.expand({n, 1, 1, 4});
  const auto out = normalise(named("hard"), {many, {}, Random(6), {}});
  const auto weighted = (out.log_probability * reward.index({out.chosen})).mean();
  EXPECT_LT(distance(torch::autograd::grad({weighted}, {scores})[0], exact), 0.03);
}

TEST(Normaliser, GumbelIsOneHotForwardAndSoftBackward) {
  const auto scores = kScores.clone().requires_grad_();
  const auto coefficients = numbers({2, 2, 3, 5}, "coefficients");
  const auto out = normalise(named("gumbel", 0.7), {scores, {}, Random(8), {}});
  EXPECT_TRUE(((out.weights == 0) | (out.weights == 1)).all().item<bool>());
  EXPECT_TRUE(at::equal(out.weights.sum(-1), at::ones({2, 2, 3}, at::kDouble)));
  const auto found = torch::autograd::grad({(out.weights * coefficients).sum()}, {scores})[0];
  const auto uniform = Random(8).uniform_tensor({2, 2, 3, 5}, 0, 1, at::TensorOptions(at::kDouble));
  const auto soft = at::softmax((scores - (-uniform.log()).log()) / 0.7, -1);
  const auto expected = torch::autograd::grad({(soft * coefficients).sum()}, {scores})[0];
  EXPECT_LT(distance(found, expected), 1e-14);
  EXPECT_GT(testing::largest(found), 1e-3);
}

TEST(Normaliser, RefusesWhatCannotWork) {
  EXPECT_THROW(normalise(named("softmax"), {kScores[0], {}, {}, {}}), Error);
  EXPECT_THROW(normalise(named("temperature", 0), {kScores, {}, {}, {}}), Error);
  EXPECT_THROW(normalise(named("top-k", 1, 0), {kScores, {}, {}, {}}), Error);
  EXPECT_THROW(find_normaliser("softmx"), Error);
}

}  // namespace
}  // namespace fovea::normaliser_test
