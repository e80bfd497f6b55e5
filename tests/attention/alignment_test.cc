#include "fovea/attention/alignment.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "tests/attention/cases.h"

namespace fovea::alignment_test {
namespace {

using namespace testing;

std::shared_ptr<Alignment> alignment_of(const std::string& name, int64_t half_width) {
  AlignmentOptions options;
  options.name = name, options.half_width = half_width, options.query_size = 4,
  options.hidden_size = 5;
  auto alignment = make_alignment(options, Random(2));
  alignment->to(at::kDouble);
  return alignment;
}

TEST(Alignment, AWideWindowWithoutGaussianIsGlobal) {
  auto c = make_case("dot", "softmax", "global");
  const auto global = attend(c.input());
  for (const auto* name : {"local-m", "window"}) {
    c.alignment = alignment_of(name, 6);
    EXPECT_TRUE(at::equal(attend(c.input()).weights, global.weights)) << name;
  }
  c.alignment = alignment_of("local-p", 1000000);
  EXPECT_LT(distance(attend(c.input()).weights, global.weights), 1e-9)
      << "the Gaussian is flat at this width";
}

TEST(Alignment, GaussianPeaksAtOneAndIsNotRenormalised) {
  auto c = make_case("dot", "softmax", "local-p");
  const auto aligned = c.alignment->align({c.query, 3, c.mask, 6, 0, {}});
  const auto place = at::arange(6, at::kDouble);
  const auto expected =
      (-(place - aligned.center.unsqueeze(-1)).square() / 2).exp();  // sigma = D / 2 = 1
  EXPECT_LT(distance(aligned.factor, expected), 1e-14);
  torch::NoGradGuard no_gradient;
  c.alignment->named_parameters()["energy.weight"]
      .zero_();  // sig(0) = 1/2: p = S / 2, a whole number here
  const auto middle = c.alignment->align({c.query, 3, c.mask, 6, 0, {}});
  EXPECT_EQ(middle.center[0][0][0].item<double>(), 3);
  EXPECT_EQ(middle.center[1][0][0].item<double>(), 2) << "S is the example's own length";
  EXPECT_EQ(middle.factor[0][0][0][3].item<double>(), 1);
  const auto out = attend(c.input());
  const auto softmax = masked_softmax(at::matmul(c.query, c.keys.transpose(-2, -1)), out.mask);
  EXPECT_LT(distance(out.weights, softmax * middle.factor), 1e-14);
  EXPECT_LT(out.weights.sum(-1).max().item<double>(), 1);
}

TEST(Alignment, GradientReachesThePredictedPosition) {
  auto c = make_case("dot", "softmax", "local-p");
  attend(c.input()).context.square().sum().backward();
  for (const auto& parameter : c.alignment->named_parameters())
    EXPECT_GT(testing::largest(parameter.value().grad()), 1e-6) << parameter.key();
}

TEST(Alignment, LocalMFollowsTheStep) {
  const auto alignment = alignment_of("local-m", 1);
  const auto window = alignment->align({{}, 2, {}, 6, 3, {}}).window;
  const auto expected = at::tensor({0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1}, at::kInt) != 0;
  EXPECT_TRUE(at::equal(window.keep().flatten(), expected));
}

TEST(Alignment, MedianWindowsAroundThePreviousWeights) {
  const auto alignment = alignment_of("median", 2);
  const auto previous = at::tensor({0.1, 0.1, 0.1, 0.3, 0.4, 0.0}, at::kDouble).view({1, 1, 1, 6});
  const auto aligned = alignment->align({{}, 1, {}, 6, 0, previous});
  EXPECT_EQ(aligned.center.item<double>(), 3);
  EXPECT_TRUE(
      at::equal(aligned.window.keep().flatten(), at::tensor({0, 1, 1, 1, 1, 0}, at::kInt) != 0))
      << "p-2 ... p+1";
  EXPECT_TRUE(alignment->align({{}, 1, {}, 6, 0, {}}).window.is_all()) << "first step";
  EXPECT_TRUE(alignment->align({{}, 1, {}, 6, 0, previous * 0}).window.keep().all().item<bool>());
}

TEST(Alignment, CausalLeaksNothingFromTheFuture) {
  auto c = make_case("scaled-dot", "softmax", "causal");
  const auto before = attend(c.input());
  c.keys.select(2, 2).add_(5);
  c.values.select(2, 2).add_(5);
  const auto after = attend(c.input());
  EXPECT_TRUE(at::equal(before.context.narrow(2, 0, 2), after.context.narrow(2, 0, 2)));
  EXPECT_FALSE(at::equal(before.context.select(2, 2), after.context.select(2, 2)));
}

TEST(Alignment, RefusesWhatCannotWork) {
  EXPECT_THROW(alignment_of("lokal-p", 2), Error);
  EXPECT_THROW(alignment_of("local-m", 0), Error);
  EXPECT_THROW(alignment_of("local-p", 2)->align({{}, 1, {}, 6, 0, {}}), Error)
      << "no query to predict from";
}

}  // namespace
}  // namespace fovea::alignment_test
