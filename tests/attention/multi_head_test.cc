#include "fovea/attention/multi_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "tests/attention/cases.h"
#include "tests/support/gradient_check.h"

namespace fovea::multi_head_test {
namespace {

using namespace testing;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<MultiHeadAttention> made(MultiHeadOptions options = {}) {
  options.width = 8, options.heads = 2;
  options.score.hidden_size = 5, options.score.maximum_length = 6;
  options.score.filters = 2, options.score.kernel_width = 3;
  auto module = std::make_shared<MultiHeadAttention>(options, Random(1));
  module->to(at::kDouble);
  torch::NoGradGuard no_gradient;
  for (auto& parameter : module->named_parameters())
    if (parameter.key().find("bias") != std::string::npos)
      parameter.value().copy_(numbers(parameter.value().sizes(), "bias"));
  return module;
}

const at::Tensor kX = numbers({2, 5, 8}, "x");
const KeepMask kMask = KeepMask::from_lengths(at::tensor({5, 3}, at::kLong), 5);

Attended self(const MultiHeadAttention& module, const at::Tensor& x, const KeepMask& mask,
              Tap* tap = nullptr) {
  MultiHeadInput in;
  in.query = x, in.memory = module.remember(x, x, mask), in.random = Random(2),
  in.map = {"self", "word", "word"};
  return module.forward(in, tap);
}

TEST(MultiHead, HasTheNamesOfPyTorch) {
  std::vector<std::string> names;
  for (const auto& parameter : made()->named_parameters()) names.push_back(parameter.key());
  EXPECT_EQ(names, (std::vector<std::string>{"in_proj_weight", "in_proj_bias", "out_proj.weight",
                                             "out_proj.bias"}));
}

TEST(MultiHead, WorksWithEveryScoreAndGradientsAreRight) {
  for (const auto& name : score_names()) {
    MultiHeadOptions options;
    options.score.name = name;
    const auto module = made(options);
    const auto x = kX.clone().requires_grad_();
    auto leaves = module->parameters();
    leaves.push_back(x);
    const auto loss = [&] {
      return (self(*module, x, kMask).context * numbers({2, 5, 8}, "coefficients")).sum();
    };
    EXPECT_EQ(self(*module, x, kMask).weights.sizes(), (std::vector<int64_t>{2, 2, 5, 5})) << name;
    EXPECT_LT(testing::gradient_error(loss, leaves), 1e-7) << name;
  }
}

TEST(MultiHead, BlindQueriesGetZeroAndMaskedNaNLeaksNowhere) {
  const auto module = made();
  const auto keep = at::arange(5).unsqueeze(0) < at::tensor({5, 3}, at::kLong).unsqueeze(1);
  const auto mask = kMask & KeepMask::from_queries(keep);
  const auto run = [&](double filler) {
    const auto x = kX.masked_fill(~keep.unsqueeze(-1), filler).requires_grad_();
    const auto out = self(*module, x, mask);
    auto leaves = module->parameters();
    leaves.push_back(x);
    auto all = torch::autograd::grad({out.context.square().sum()}, leaves);
    all.push_back(out.context), all.push_back(out.weights);
    return all;
  };
  const auto clean = run(0), dirty = run(kNaN);
  for (size_t i = 0; i < clean.size(); ++i) EXPECT_TRUE(at::equal(clean[i], dirty[i])) << i;
  EXPECT_EQ(largest(dirty[5][1].narrow(0, 3, 2)), 0) << "not the bias of out_proj";
  EXPECT_EQ(largest(dirty[4][1].narrow(0, 3, 2)), 0) << "no gradient to padding";
}

TEST(MultiHead, CausalLeaksNothingFromTheFuture) {
  const auto module = made();
  auto x = kX.clone();
  const auto before = self(*module, x, KeepMask::causal(5, 5)).context;
  x.select(1, 3).fill_(kNaN);
  const auto after = self(*module, x, KeepMask::causal(5, 5)).context;
  EXPECT_TRUE(at::equal(before.narrow(1, 0, 3), after.narrow(1, 0, 3)));
  EXPECT_TRUE(after.narrow(1, 3, 2).isnan().all().item<bool>());
}

TEST(MultiHead, ACacheThatGrowsEqualsTheWholeSequence) {
  const auto module = made();
  const auto whole = self(*module, kX, KeepMask::causal(5, 5)).context;
  Memory cache;
  for (int64_t t = 0; t < 5; ++t) {
    const auto x = kX.narrow(1, t, 1);
    const auto step = module->remember(x, x, KeepMask::all());
    cache = t == 0 ? step : cache.followed_by(step);
    MultiHeadInput in;
    in.query = x, in.memory = cache;
    EXPECT_LT(distance(module->forward(in).context, whole.narrow(1, t, 1)), 1e-12) << t;
  }
}

TEST(MultiHead, TapSeesAndReplacesTheWeights) {
  const auto module = made();
  Tap tap;
  tap.replace("self", [](const AttentionMap& map) { return at::full_like(map.weights, 0.2); });
  const auto plain = self(*module, kX, KeepMask::all()),
             uniform = self(*module, kX, KeepMask::all(), &tap);
  EXPECT_GT(distance(plain.context, uniform.context), 1e-3);
  EXPECT_EQ(check_map(tap.map("self"), {}, 1e-9), "");
  EXPECT_LT(distance(uniform.context.select(1, 0), uniform.context.select(1, 4)), 1e-12)
      << "all rows the same now";
}

TEST(MultiHead, DropsOnlyInTraining) {
  MultiHeadOptions options;
  options.dropout = 0.5;
  const auto module = made(options);
  const auto trained = self(*module, kX, kMask).context;
  module->eval();
  const auto evaluated = self(*module, kX, kMask).context;
  EXPECT_GT(distance(trained, evaluated), 1e-3);
  EXPECT_LT(distance(evaluated, self(*made(), kX, kMask).context), 1e-12);
}

TEST(MultiHead, RefusesWhatCannotWork) {
  MultiHeadOptions options;
  options.width = 10, options.heads = 4;
  EXPECT_THROW(MultiHeadAttention(options, Random(1)), Error);
  EXPECT_THROW(made()->remember(kX.narrow(2, 0, 7), kX, kMask), Error);
  MultiHeadInput in;
  in.query = kX[0], in.memory = made()->remember(kX, kX, kMask);
  EXPECT_THROW(made()->forward(in), Error);
}

// Llama 3.1: a turn that is slow in the original length is slower by the factor, a fast one stays.
TEST(Rotary, LongerTextsTurnSlower) {
  RotaryOptions options;
  const at::Tensor plain = rotary_rates(8, options);
  EXPECT_NEAR(plain[0].item<double>(), 1, 1e-12);
  EXPECT_NEAR(plain[3].item<double>(), std::pow(10000, -0.75), 1e-12);
  options.factor = 8;
  options.scaling = "linear";
  EXPECT_LT(distance(rotary_rates(8, options) * 8, plain), 1e-12);
  options.scaling = "llama3", options.original_length = 1000;
  const at::Tensor scaled = rotary_rates(8, options);
  EXPECT_EQ(scaled[0].item<double>(), plain[0].item<double>()) << "159 turns in 1,000 positions";
  EXPECT_NEAR(scaled[3].item<double>(), plain[3].item<double>() / 8, 1e-12) << "0.16 turns";
  const double turns = 0.01 * 1000 / (2 * M_PI), fast = (turns - 1) / 3;  // 1.59: between 1 and 4
  EXPECT_NEAR(scaled[2].item<double>(), 0.01 * (fast + (1 - fast) / 8), 1e-12);
}

TEST(MultiHead, ABiasMovesTheScores) {
  const auto module = made();
  MultiHeadInput in;
  in.query = kX;
  const Attended plain = module->forward_self(in).attended;
  in.bias = at::zeros({1, 2, 5, 5}, at::kDouble);
  in.bias.select(1, 1).select(-1, 3).fill_(50);  // head 1 looks at key 3 alone
  const Attended moved = module->forward_self(in).attended;
  EXPECT_LT(distance(moved.weights.select(1, 0), plain.weights.select(1, 0)), 1e-12);
  EXPECT_GT(moved.weights.select(1, 1).select(-1, 3).min().item<double>(), 0.999);
}

}  // namespace
}  // namespace fovea::multi_head_test
