#include "fovea/metrics/threshold.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::threshold_test {
namespace {

using testing::expect_error;

// Falling: 0.9 (1), 0.8 (0), 0.6 (1), 0.4 (1), 0.3 (0), 0.1 (0).
const std::vector<double> kScores{0.3, 0.9, 0.6, 0.8, 0.1, 0.4}, kTargets{0, 1, 1, 0, 0, 1};

double chosen(const std::string& rule) {
  return ThresholdRule(rule).choose(torch::tensor(kScores, at::kDouble),
                                    torch::tensor(kTargets, at::kDouble));
}

TEST(Threshold, RulesByHand) {
  EXPECT_EQ(chosen("0.25"), 0.25);
  EXPECT_NEAR(chosen("f1"), 0.35, 1e-12) << "3 found of 3 with 4 alarms: 6/7";
  EXPECT_NEAR(chosen("youden"), 0.35, 1e-12) << "1 - 1/3; at 0.85 it is 1/3";
  EXPECT_NEAR(chosen("cost=1:5"), 0.35, 1e-12) << "one false alarm";
  EXPECT_NEAR(chosen("cost=9:1"), 0.85, 1e-12) << "two misses instead of one false alarm";
  EXPECT_NEAR(chosen("cost=1:0"), 0.85, 1e-12) << "no alarm would do; the nearest to 0.5";
  EXPECT_NEAR(chosen("precision=0.9"), 0.85, 1e-12);
  EXPECT_NEAR(chosen("precision=0.75"), 0.35, 1e-12);
  EXPECT_NEAR(chosen("recall=0.9"), 0.35, 1e-12);
  EXPECT_NEAR(chosen("recall=0.5"), 0.5, 1e-12) << "two of three: one false alarm, as at 0.35";
}

TEST(Threshold, EqualScoresStayTogether) {
  const at::Tensor scores = torch::tensor({0.5, 0.5, 0.5}), targets = torch::tensor({1, 0, 1});
  const double threshold = ThresholdRule("f1").choose(scores, targets);
  EXPECT_GT(threshold, 0);
  EXPECT_LE(threshold, 0.5);
}

TEST(Threshold, WhatCannotBeChosenSaysSo) {
  expect_error(ErrorKind::InvalidArgument, {"'f2'", "f1", "cost=1:5"}, [] { ThresholdRule("f2"); });
  expect_error(ErrorKind::InvalidArgument, {"precision"}, [] { ThresholdRule("precison=0.9"); });
  for (const char* wrong : {"", "1.5", "-0.1", "nan", "cost=1", "cost=-1:2", "cost=0:0",
                            "precision=2", "precision=", "f1=3"})
    expect_error(ErrorKind::InvalidArgument, {"expected"},
                 [&] { ThresholdRule rule{std::string(wrong)}; });
  expect_error(ErrorKind::BadData, {"one class"}, [] {
    ThresholdRule("f1").choose(torch::tensor({0.5, 0.6}), torch::tensor({1, 1}));
  });
  expect_error(ErrorKind::BadData, {"precision=0.9", "ask for less"}, [] {
    ThresholdRule("precision=0.9").choose(torch::tensor({0.9, 0.1}), torch::tensor({0, 1}));
  });
}

}  // namespace
}  // namespace fovea::threshold_test
