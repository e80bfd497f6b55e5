// The linear chain against all sequences of tags, one by one.
#include "fovea/nn/ops/linear_chain.h"

#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"

namespace fovea::linear_chain_test {
namespace {

using at::Tensor;

constexpr int64_t kTags = 3;
constexpr int64_t kWords[] = {4, 2, 0};  // of three rows

struct LinearChainTest : ::testing::Test {
  LinearChainTest() : chain(kTags) {
    torch::NoGradGuard no_gradients;
    chain.begin().copy_(Random(1).normal_tensor({kTags}, 0, 1, torch::kFloat));
    chain.transition().copy_(Random(2).normal_tensor({kTags, kTags}, 0, 1, torch::kFloat));
    emissions = Random(3).normal_tensor({3, 4, kTags}, 0, 1, torch::kFloat);
    keep = torch::arange(4).unsqueeze(0) < torch::tensor({4, 2, 0}).unsqueeze(1);
    tags = torch::tensor({{2, 0, 1, 1}, {1, 2, 0, 0}, {0, 0, 0, 0}});
  }

  /// All sequences of tags for `words` words: [kTags^words, words].
  static Tensor sequences(int64_t words) {
    int64_t count = 1;
    for (int64_t word = 0; word < words; ++word) count *= kTags;
    const Tensor all = torch::zeros({count, words}, torch::kLong);
    for (int64_t row = 0; row < count; ++row)
      for (int64_t word = 0, rest = row; word < words; ++word, rest /= kTags)
        all[row][word] = rest % kTags;
    return all;
  }
  /// Of one sequence, by the formula.
  double score_of(int64_t row, const Tensor& sequence) const {
    double sum = 0;
    for (int64_t word = 0; word < sequence.size(0); ++word) {
      const auto tag = sequence[word].item<int64_t>();
      sum += emissions[row][word][tag].item<double>();
      sum += word == 0 ? chain.begin()[tag].item<double>()
                       : chain.transition()[sequence[word - 1].item<int64_t>()][tag].item<double>();
    }
    return sum;
  }
  Tensor scores_of(int64_t row, const Tensor& all) const {
    const Tensor scores = torch::zeros({all.size(0)}, torch::kDouble);
    for (int64_t i = 0; i < all.size(0); ++i) scores[i] = score_of(row, all[i]);
    return scores;
  }

  LinearChain chain;
  Tensor emissions, keep, tags;
};

TEST_F(LinearChainTest, EqualsTheSumOverAllSequences) {
  torch::NoGradGuard no_gradients;
  const Tensor found = chain.log_probabilities(emissions, tags, keep);  // [B, W]
  for (const int64_t row : {0, 1}) {
    const Tensor all = sequences(kWords[row]);
    Tensor scores = scores_of(row, all);
    for (int64_t word = 0; word < kWords[row]; ++word) {  // p(tag | the tags before it)
      const Tensor same = all.select(1, word) == tags[row][word];
      const double before = scores.logsumexp(0).item<double>();
      scores = scores.masked_fill(~same, -1e9);
      EXPECT_NEAR(found[row][word].item<double>(), scores.logsumexp(0).item<double>() - before,
                  1e-4);
    }
  }
  EXPECT_EQ(found[2].abs().sum().item<double>(), 0) << "a row without words";
  EXPECT_EQ(found[1].narrow(0, 2, 2).abs().sum().item<double>(), 0) << "padding";
}

TEST_F(LinearChainTest, GradientsEqualFiniteDifferences) {
  chain.to(torch::kDouble);
  const Tensor x = emissions.to(torch::kDouble).requires_grad_();
  const auto loss = [&] { return chain.log_probabilities(x, tags, keep).square().sum(); };
  EXPECT_LT(testing::gradient_error(loss, {x, chain.begin(), chain.transition()}), 1e-6);
}

}  // namespace
}  // namespace fovea::linear_chain_test
