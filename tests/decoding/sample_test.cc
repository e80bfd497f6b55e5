#include <gtest/gtest.h>
#include <cmath>
#include <set>

#include "fovea/tensor/torch.h"
#include "tests/decoding/testing.h"
#include "tests/support/expect_error.h"

namespace fovea::sample_test {
namespace {

/// How often each of the symbols was the first of 20,000 draws.
std::vector<double> frequencies(const SearchOptions& base,
                                const std::vector<double>& probabilities) {
  std::vector<double> logarithms;
  for (const double p : probabilities) logarithms.push_back(std::log(p));
  SearchOptions options = base;
  options.method = "sample";
  options.n_best = 20000;
  std::vector<double> counts(probabilities.size());
  const Answer answer = search(options, plain_problem(1, 1), constant(logarithms));
  for (const Hypothesis& draw : answer[0]) {
    ++counts[draw.tokens[0]];
    EXPECT_NEAR(draw.log_probability, logarithms[draw.tokens[0]], 1e-6);
  }
  for (double& count : counts) count /= 20000;
  return counts;
}

void expect_frequencies(const SearchOptions& options, const std::vector<double>& expected) {
  const auto found = frequencies(options, {0.05, 0.3, 0.1, 0.15, 0.4});
  for (size_t symbol = 0; symbol < expected.size(); ++symbol) {
    const double deviation = std::sqrt(expected[symbol] * (1 - expected[symbol]) / 20000);
    EXPECT_NEAR(found[symbol], expected[symbol], 4 * deviation) << "symbol " << symbol;
  }
}

TEST(Sample, SamplesFollowTheSoftmax) {
  expect_frequencies({}, {0.05, 0.3, 0.1, 0.15, 0.4});
  const double sum = 0.0025 + 0.09 + 0.01 + 0.0225 + 0.16;
  SearchOptions sharp;
  sharp.temperature = 0.5;
  expect_frequencies(sharp, {0.0025 / sum, 0.09 / sum, 0.01 / sum, 0.0225 / sum, 0.16 / sum});
}

TEST(Sample, SamplesAreCutToTheLikeliest) {
  SearchOptions options;
  options.top_k = 3;
  expect_frequencies(options, {0, 0.3 / 0.85, 0, 0.15 / 0.85, 0.4 / 0.85});
  options.top_k = 0;
  options.top_p = 0.7;  // just what the first two hold
  expect_frequencies(options, {0, 0.3 / 0.7, 0, 0, 0.4 / 0.7});
  options.top_p = 0.71;
  expect_frequencies(options, {0, 0.3 / 0.85, 0, 0.15 / 0.85, 0.4 / 0.85});
  options.top_p = 1e-9;
  expect_frequencies(options, {0, 0, 0, 0, 1});
  options.top_k = 2;
  options.top_p = 0.5;  // 0.4 / 0.7 is enough
  expect_frequencies(options, {0, 0, 0, 0, 1});
}

TEST(Sample, TheLikeliestSymbolAloneIsGreedy) {
  const FakeModel model({0, 1, 2, 3, 4, 5, 6, 7});
  SearchOptions options;
  const Answer greedy = run(options, model, 9);
  options.method = "sample";
  options.top_k = 1;
  const Answer sample = run(options, model, 9);
  for (size_t input = 0; input < model.numbers.size(); ++input)
    expect_same(sample[input], greedy[input]);
}

TEST(Sample, TheSeedDecidesTheDraws) {
  const FakeModel model({0, 1, 2, 3}, 0.3);
  SearchOptions options;
  options.method = "sample";
  options.n_best = 4;
  auto texts = [&] {
    std::vector<Tokens> tokens;
    for (const auto& draws : run(options, model, 12))
      for (const Hypothesis& draw : draws) tokens.push_back(draw.tokens);
    return tokens;
  };
  const auto first = texts();
  EXPECT_EQ(texts(), first);
  EXPECT_GT(std::set<Tokens>(first.begin(), first.end()).size(), 6u);
  options.n_best = 2;  // the first draws do not depend on how many there are
  EXPECT_EQ(texts()[3], first[5]);
  options.n_best = 4;
  options.seed = 1;
  EXPECT_NE(texts(), first);
}

}  // namespace
}  // namespace fovea::sample_test
