#include "fovea/decoding/tags.h"

#include <gtest/gtest.h>
#include <cmath>
#include <functional>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::tags_test {
namespace {

using testing::expect_error;

const std::vector<std::string> kTags = {"O", "B-a", "I-a", "B-b", "I-b"};

at::Tensor random_scores(int64_t words, uint64_t seed) {
  return Random(seed).normal_tensor({words, 5}, 0, 2, at::kFloat).log_softmax(1);
}

TEST(Tags, RulesAreThoseOfIob2) {
  const TagRules rules = iob_rules(kTags);
  EXPECT_EQ(rules.may_begin, (std::vector<bool>{true, true, false, true, false}));
  const std::vector<std::vector<bool>> follow = {{true, true, false, true, false},
                                                 {true, true, true, true, false},
                                                 {true, true, true, true, false},
                                                 {true, true, false, true, true},
                                                 {true, true, false, true, true}};
  EXPECT_EQ(rules.may_follow, follow);
}

TEST(Tags, TheBestAllowedSequenceIsFound) {
  const TagRules rules = iob_rules(kTags);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const int64_t words = 1 + int64_t(seed % 5);
    const at::Tensor scores = random_scores(words, seed);
    double best = -INFINITY;
    std::vector<int64_t> wanted, tags;
    const std::function<void(double)> extend = [&](double sum) {  // every sequence there is
      if (int64_t(tags.size()) == words) {
        if (sum > best) best = sum, wanted = tags;
        return;
      }
      for (int64_t tag = 0; tag < 5; ++tag) {
        if (tags.empty() ? !rules.may_begin[size_t(tag)]
                         : !rules.may_follow[size_t(tags.back())][size_t(tag)])
          continue;
        const auto own = scores[int64_t(tags.size())][tag].item<double>();
        tags.push_back(tag);
        extend(sum + own);
        tags.pop_back();
      }
    };
    extend(0);
    const Decoded found = best_tags(scores, rules);
    EXPECT_EQ(found.tokens, wanted) << seed;
    EXPECT_NEAR(found.log_probability, best, 1e-5);
  }
}

TEST(Tags, WithFreeRulesEachWordHasItsLikeliest) {
  const at::Tensor scores = random_scores(7, 3);
  const at::Tensor likeliest = scores.argmax(1);
  const Decoded found = best_tags(scores, free_rules(5));
  for (int64_t word = 0; word < 7; ++word)
    EXPECT_EQ(found.tokens[size_t(word)], likeliest[word].item<int64_t>());
}

TEST(Tags, NoWordsHaveNoTags) {
  const Decoded found = best_tags(torch::zeros({0, 5}), iob_rules(kTags));
  EXPECT_TRUE(found.tokens.empty());
  EXPECT_EQ(found.log_probability, 0);
}

TEST(Tags, BrokenNumbersStillGiveAllowedTags) {
  const TagRules rules = iob_rules(kTags);
  for (const double value : {double(NAN), -double(INFINITY)}) {
    const Decoded found = best_tags(torch::full({3, 5}, value), rules);
    ASSERT_EQ(found.tokens.size(), 3u);
    EXPECT_TRUE(rules.may_begin[size_t(found.tokens[0])]);
    EXPECT_TRUE(rules.may_follow[size_t(found.tokens[0])][size_t(found.tokens[1])]);
  }
}

TEST(Tags, RefusesWhatCannotBegin) {
  expect_error(ErrorKind::InvalidArgument, "I-a", [] { iob_rules({"I-a", "I-b"}); });
  EXPECT_THROW(best_tags(torch::zeros({2, 4}), iob_rules(kTags)), Error);
}

TEST(Tags, NeighboursCountWithAChain) {
  // Each word for itself likes tag 0; tag 1 behind tag 1 is worth more, and beginning with it too.
  const TagChain chain{torch::tensor({0.0F, 2.0F}), torch::tensor({{0.0F, 0.0F}, {0.0F, 3.0F}})};
  const Decoded found =
      best_tags(torch::tensor({{1.0F, 0.0F}, {1.0F, 0.0F}}), free_rules(2), chain);
  EXPECT_EQ(found.tokens, (std::vector<int64_t>{1, 1}));
  EXPECT_NEAR(found.log_probability, 5, 1e-6);
  const Decoded alone = best_tags(torch::tensor({{1.0F, 0.0F}, {1.0F, 0.0F}}), free_rules(2));
  EXPECT_EQ(alone.tokens, (std::vector<int64_t>{0, 0}));
}

}  // namespace
}  // namespace fovea::tags_test
