// Properties of attend() over the whole table of scores, normalisers and alignments.
#include "fovea/attention/attend.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <limits>

#include "fovea/base/error.h"
#include "tests/attention/cases.h"
#include "tests/support/gradient_check.h"

namespace fovea::attend_test {
namespace {

using namespace testing;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A fixed linear reading of everything that came out.
at::Tensor loss_of(const Attended& out) {
  auto loss = (out.context * numbers(out.context.sizes(), "context coefficients")).sum() +
              (out.weights * numbers(out.weights.sizes(), "weight coefficients")).sum();
  if (out.log_probability.defined())
    loss = loss +
           (out.log_probability * numbers(out.log_probability.sizes(), "log coefficients")).sum();
  return loss;
}

std::vector<at::Tensor> live_inputs(Case& c) {
  std::vector<at::Tensor> leaves = c.parameters();
  for (auto* x : {&c.query, &c.keys, &c.values}) leaves.push_back(x->requires_grad_());
  return leaves;
}

std::vector<at::Tensor> gradients_of(const at::Tensor& loss,
                                     const std::vector<at::Tensor>& leaves) {
  return torch::autograd::grad({loss}, leaves, {}, false, false, true);
}

TEST(Attend, GivesTheShapesItPromises) {
  for (auto& c : whole_table()) {
    SCOPED_TRACE(c.name());
    const auto out = attend(c.input());
    EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{2, 2, 3, 3}));
    EXPECT_EQ(out.weights.sizes(), (std::vector<int64_t>{2, 2, 3, 6}));
    EXPECT_EQ(out.log_probability.defined(), c.normaliser_name == "hard");
    EXPECT_EQ(out.chosen.defined(), c.samples());
    c.query = c.query.select(1, 0), c.keys = c.keys.select(1, 0), c.values = c.values.select(1, 0);
    c.previous = c.previous.narrow(1, 0, 1);
    const auto flat = attend(c.input());
    EXPECT_EQ(flat.context.sizes(), (std::vector<int64_t>{2, 3, 3}));
    EXPECT_EQ(flat.weights.sizes(), (std::vector<int64_t>{2, 1, 3, 6}));
  }
}

TEST(Attend, WeightsAreOfTheirKindAndZeroWhereMasked) {
  for (auto& c : whole_table()) {
    SCOPED_TRACE(c.name());
    Tap tap;
    const auto out = attend(c.input(), &tap);
    const auto& map = tap.map("map");
    EXPECT_EQ(check_map(map, {}, 1e-9), "");
    EXPECT_EQ(map.query_axis, "target");
    EXPECT_EQ(map.key_axis, "source");
    const auto hidden = ~out.mask.expand(out.weights.sizes());
    EXPECT_EQ(largest(out.weights.masked_select(hidden)), 0);
    EXPECT_EQ(largest(out.weights.index({1}).narrow(-1, 4, 2)), 0) << "padding";
    if (c.normaliser_name == "gate") {
      EXPECT_EQ(map.kind, MapKind::Gate);
    } else if (c.alignment_name == "local-p") {
      EXPECT_EQ(map.kind, MapKind::Partial);
      EXPECT_LT(out.weights.sum(-1).min().item<double>(), 1);
    } else {
      EXPECT_EQ(map.kind, MapKind::Distribution);
      EXPECT_LT(distance(out.weights.sum(-1), at::ones({2, 2, 3}, at::kDouble)), 1e-12);
    }
    EXPECT_LT(distance(out.context, at::matmul(out.weights, c.values)), 1e-12);
  }
}

TEST(Attend, SameInputGivesTheSameBits) {
  for (auto& c : whole_table()) {
    const auto first = attend(c.input()), second = attend(c.input());
    EXPECT_TRUE(at::equal(first.weights, second.weights)) << c.name();
    EXPECT_TRUE(at::equal(first.context, second.context)) << c.name();
  }
}

TEST(Attend, PermutedKeysGivePermutedWeightsAndTheSameContext) {
  const auto order = at::tensor({2, 0, 3, 1, 5, 4}, at::kLong);
  for (auto& c : whole_table()) {
    // A draw is tied to places; so are these scores and every alignment but global.
    if (find_score(c.score_name).traits.depends_on_order || c.alignment_name != "global" ||
        c.samples())
      continue;
    SCOPED_TRACE(c.name());
    const auto plain = attend(c.input());
    c.keys = c.keys.index_select(2, order), c.values = c.values.index_select(2, order);
    c.mask = KeepMask::from_keep(c.mask.keep().index_select(3, order));
    const auto permuted = attend(c.input());
    EXPECT_LT(distance(permuted.weights, plain.weights.index_select(3, order)), 1e-12);
    EXPECT_LT(distance(permuted.context, plain.context), 1e-12);
  }
}

TEST(Attend, ExamplesOfABatchDoNotTouchEachOther) {
  for (auto& c : whole_table()) {
    const auto before = attend(c.input());
    for (auto* x : {&c.query, &c.keys, &c.values}) x->select(0, 1).mul_(-3).add_(1);
    const auto after = attend(c.input());
    EXPECT_TRUE(at::equal(before.context[0], after.context[0])) << c.name();
    EXPECT_FALSE(at::equal(before.context[1], after.context[1])) << c.name();
  }
}

TEST(Attend, GradientsAgreeWithFiniteDifferences) {
  for (auto& c : whole_table()) {
    auto leaves = live_inputs(c);
    // Straight-through is not the slope of what it computes; NormaliserTest checks what it is
    // instead.
    if (c.normaliser_name == "gumbel") leaves = {c.values};
    const double error =
        testing::gradient_error([&] { return loss_of(attend(c.input())); }, leaves);
    EXPECT_LT(error, 1e-7) << c.name();
  }
}

TEST(Attend, AFullyMaskedRowIsZeroAndSendsNoGradient) {
  for (auto& c : whole_table()) {
    SCOPED_TRACE(c.name());
    auto keep = c.mask.keep().expand({2, 2, 3, 6}).clone();
    keep[1].fill_(false);        // a whole example
    keep[0][1][2].fill_(false);  // and one query
    c.mask = KeepMask::from_keep(keep);
    c.query[1].fill_(kNaN);
    c.keys[1].fill_(kInfinity);
    c.values[1].fill_(kNaN);
    c.query[0][1][2].fill_(kNaN);
    const auto leaves = live_inputs(c);
    Tap tap;
    const auto out = attend(c.input(), &tap);
    EXPECT_EQ(largest(out.weights[1]), 0);
    EXPECT_EQ(largest(out.context[1]), 0);
    EXPECT_EQ(largest(out.context[0][1][2]), 0);
    EXPECT_TRUE(all_finite(out.weights) && all_finite(out.context));
    EXPECT_EQ(tap.map("map").kind, c.normaliser_name == "gate" ? MapKind::Gate : MapKind::Partial);
    const auto gradients = gradients_of(loss_of(out), leaves);
    for (const auto& gradient : gradients) EXPECT_TRUE(!gradient.defined() || all_finite(gradient));
    for (size_t last = 1; last <= 3; ++last) {
      const auto& gradient = gradients[gradients.size() - last];
      EXPECT_EQ(gradient.defined() ? largest(gradient[1]) : 0, 0);
    }
    const auto& query_gradient = gradients[gradients.size() - 3];
    EXPECT_EQ(query_gradient.defined() ? largest(query_gradient[0][1][2]) : 0, 0);
  }
}

/// Results and gradients for masked keys and values holding `filler`.
std::vector<at::Tensor> everything_with(Case c, const at::Tensor& hidden, double filler) {
  c.keys = c.keys.masked_fill(hidden, filler);
  c.values = c.values.masked_fill(hidden, filler);
  if (c.previous.defined()) c.previous = c.previous.masked_fill(~c.mask.keep(), filler);
  const auto leaves = live_inputs(c);
  const auto out = attend(c.input());
  std::vector<at::Tensor> all = {out.weights, out.context};
  for (const auto& gradient : gradients_of(loss_of(out), leaves))
    if (gradient.defined()) all.push_back(gradient);
  return all;
}

TEST(Attend, WhatStandsAtAMaskedPlaceNeverLeaks) {
  for (auto& c : whole_table()) {
    SCOPED_TRACE(c.name());
    const auto hidden = ~c.mask.keep().transpose(-2, -1);  // [2, 1, 6, 1]
    const auto clean = everything_with(c, hidden, 0);
    for (const double filler : {kNaN, kInfinity, -kInfinity, 1e300}) {
      const auto dirty = everything_with(c, hidden, filler);
      ASSERT_EQ(clean.size(), dirty.size());
      for (size_t i = 0; i < clean.size(); ++i)
        EXPECT_TRUE(at::equal(clean[i], dirty[i])) << filler << " in result " << i;
    }
  }
}

TEST(Attend, ABrokenKeyReachesOnlyTheQueriesThatMaySeeIt) {
  for (auto& c : whole_table()) {
    SCOPED_TRACE(c.name());
    c.mask = KeepMask::causal(3, 6);  // keys 1 and 2 are seen by later queries only
    c.previous = at::Tensor();
    const auto leaves_of_first_query = [&] {
      const auto leaves = live_inputs(c);
      const auto out = attend(c.input());
      std::vector<at::Tensor> all = {out.weights.select(2, 0), out.context.select(2, 0)};
      const auto loss = out.context.select(2, 0).sum() + out.weights.select(2, 0).square().sum();
      for (const auto& gradient : gradients_of(loss, leaves))
        if (gradient.defined()) all.push_back(gradient);
      return all;
    };
    c.keys.select(2, 2).fill_(0);
    c.values.select(2, 2).fill_(0);
    const auto clean = leaves_of_first_query();
    c.keys = c.keys.detach().clone(), c.values = c.values.detach().clone(),
    c.query = c.query.detach().clone();
    c.keys.select(2, 2).fill_(kNaN);
    c.values.select(2, 2).fill_(kInfinity);
    const auto dirty = leaves_of_first_query();
    ASSERT_EQ(clean.size(), dirty.size());
    for (size_t i = 0; i < clean.size(); ++i)
      EXPECT_TRUE(at::equal(clean[i], dirty[i])) << "result " << i;
    const auto out = attend(c.input());
    const auto sees = out.mask.expand(out.weights.sizes()).select(3, 2);  // [2, 2, 3]
    EXPECT_TRUE(at::equal(out.context.isnan().all(-1), sees))
        << "trouble that may be seen must be shown";
    EXPECT_TRUE(at::equal(out.weights.isnan().any(-1), sees));
  }
}

TEST(Attend, ANaNQueryIsShown) {
  for (auto& c : whole_table()) {
    c.query[0][0][1].fill_(kNaN);
    const auto out = attend(c.input());
    EXPECT_TRUE(out.weights[0][0][1].isnan().any().item<bool>()) << c.name();
    EXPECT_TRUE(all_finite(out.weights[0][1]) && all_finite(out.weights[1])) << c.name();
  }
}

TEST(Attend, GoesOnWithTheWeightsThatTheTapReturns) {
  for (auto& c : whole_table()) {
    SCOPED_TRACE(c.name());
    Tap tap;
    const auto uniform = at::full({2, 2, 3, 6}, 0.25, at::kDouble);
    tap.replace("map", [&](const AttentionMap&) { return uniform; });
    const auto out = attend(c.input(), &tap);
    const auto seen = c.values * c.mask.keep().transpose(-2, -1);
    EXPECT_LT(distance(out.context, at::matmul(uniform, seen)), 1e-12);
    EXPECT_TRUE(at::equal(out.weights, uniform));
    EXPECT_TRUE(at::equal(tap.map("map").weights, attend(c.input()).weights))
        << "the map keeps what was computed";
  }
}

TEST(Attend, WorksInSinglePrecision) {
  for (auto& c : whole_table()) {
    const auto exact = attend(c.input());
    c.score->to(at::kFloat), c.alignment->to(at::kFloat);
    for (auto* x : {&c.query, &c.keys, &c.values, &c.previous}) *x = x->to(at::kFloat);
    const auto rounded = attend(c.input());
    EXPECT_EQ(rounded.context.scalar_type(), at::kFloat) << c.name();
    EXPECT_LT(distance(rounded.context.to(at::kDouble), exact.context), 1e-4) << c.name();
  }
}

TEST(Attend, RunsOnTheGpuAsOnTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for (auto& c : whole_table()) {
    const auto here = attend(c.input());
    c.score->to(at::kCUDA), c.alignment->to(at::kCUDA);
    for (auto* x : {&c.query, &c.keys, &c.values, &c.previous}) *x = x->to(at::kCUDA);
    const auto there = attend(c.input());
    EXPECT_TRUE(there.context.is_cuda()) << c.name();
    EXPECT_LT(distance(there.context.cpu(), here.context), 1e-9) << c.name();
  }
}

TEST(Attend, StepByStepEqualsAllAtOnce) {
  for (auto& c : whole_table()) {
    if (c.samples()) continue;  // draws are numbered by their place in the call
    auto in = c.input();
    const auto whole = attend(in);
    for (int64_t t = 0; t < 3; ++t) {
      in.query = c.query.narrow(2, t, 1);
      in.previous_weights = c.previous.narrow(2, t, 1);
      in.first_position = t;
      EXPECT_LT(distance(attend(in).context, whole.context.narrow(2, t, 1)), 1e-12)
          << c.name() << " step " << t;
    }
  }
}

TEST(Attend, TakesScoresOfTheCaller) {
  auto c = make_case("dot", "softmax", "global");
  const auto expected = attend(c.input());
  auto in = c.input();
  in.scores = at::matmul(c.query, c.keys.transpose(-2, -1));
  in.score = nullptr;
  in.query = at::Tensor();
  in.memory = remember_values(c.values, c.mask);
  EXPECT_LT(distance(attend(in).context, expected.context), 1e-12);
}

TEST(Attend, DropoutComesAfterTheReportAndIsReproducible) {
  auto c = make_case("dot", "softmax", "global");
  auto in = c.input();
  const auto plain = attend(in);
  in.dropout = 0.5;
  const auto dropped = attend(in), again = attend(in);
  EXPECT_TRUE(at::equal(dropped.weights, plain.weights));
  EXPECT_FALSE(at::equal(dropped.context, plain.context));
  EXPECT_TRUE(at::equal(dropped.context, again.context));
}

TEST(Attend, RefusesWhatCannotWork) {
  auto c = make_case("dot", "softmax", "global");
  const auto kind_of = [](const AttendInput& in) {
    try {
      attend(in);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Internal;
  };
  auto in = c.input();
  in.score = nullptr;
  EXPECT_EQ(kind_of(in), ErrorKind::InvalidArgument) << "neither score nor scores";
  in = c.input(), in.memory = {};
  EXPECT_EQ(kind_of(in), ErrorKind::InvalidArgument) << "empty memory";
  in = c.input(), in.mask = KeepMask::causal(3, 9);
  EXPECT_EQ(kind_of(in), ErrorKind::InvalidArgument) << "mask of another size";
  in = c.input(), in.dropout = 0.1, in.random.reset();
  EXPECT_EQ(kind_of(in), ErrorKind::InvalidArgument) << "dropout without random numbers";
  in = c.input(), in.normaliser.name = "sotfmax";
  EXPECT_EQ(kind_of(in), ErrorKind::NotFound);
  Tap tap;
  tap.replace("map", [](const AttentionMap&) { return at::ones({1}); });
  EXPECT_THROW(attend(c.input(), &tap), Error) << "replacement of another shape";
}

}  // namespace
}  // namespace fovea::attend_test
