#include "fovea/explain/faithfulness/verdict.h"

#include <gtest/gtest.h>

namespace fovea::faithfulness::verdict_test {
namespace {

/// A sample of probabilities that supports its map; the tests change one thing at a time.
Sample good_sample() {
  Sample sample;
  sample.units = 10;
  sample.outputs = 1;
  sample[Measure::Comprehensiveness] = {0.63, 0.15};
  sample[Measure::Sufficiency] = {0.05, 0.4};
  sample[Measure::LeaveOneOutTau] = {0.6, 0.0};
  sample[Measure::Permuted].value = 0.58;
  sample[Measure::UntrainedTau] = {0.05, 0.0};
  return sample;
}

Faithfulness judged(const std::vector<Sample>& samples) {
  Faithfulness result = summarise("words", samples, {});
  give_verdict(samples, result);
  return result;
}

/// Twenty samples that differ a little, each changed.
template <class Change>
Faithfulness judged_with(Change change) {
  std::vector<Sample> samples;
  for (int i = 0; i < 20; ++i) {
    samples.push_back(good_sample());
    *samples.back()[Measure::Comprehensiveness].value += 0.01 * (i % 2 ? 1 : -1);
    *samples.back()[Measure::Sufficiency].value += 0.01 * (i % 2 ? 1 : -1);
    change(samples.back(), i);
  }
  return judged(samples);
}

TEST(Verdict, SupportedNamesTheDecisiveFigures) {
  const Faithfulness result = judged_with([](Sample&, int) {});
  EXPECT_EQ(result.trust, "supported");
  EXPECT_EQ(result.verdict,
            "Taking away what 'words' points at changes the output 4.2 times as much as taking "
            "away random units (0.63 against 0.15), and shuffling the weights changes it by 0.58: "
            "the picture shows what the model used for these 20 examples.");
}

TEST(Verdict, OneExampleHasNoInterval) {
  Sample sample = good_sample();
  EXPECT_EQ(judged({sample}).trust, "supported");
  EXPECT_NE(judged({sample}).verdict.find("for this example."), std::string::npos);
  sample[Measure::Comprehensiveness] = {0.2, 0.15};  // more, but not half as much again
  const Faithfulness unclear = judged({sample});
  EXPECT_EQ(unclear.trust, "mixed");
  EXPECT_NE(unclear.verdict.find("one example cannot tell"), std::string::npos);
}

TEST(Verdict, UnsupportedWhenNotBetterThanChance) {
  const Faithfulness result = judged_with([](Sample& sample, int) {
    sample[Measure::Comprehensiveness] = {0.10, 0.11};
    sample[Measure::Sufficiency] = {0.30, 0.29};
  });
  EXPECT_EQ(result.trust, "unsupported");
  EXPECT_EQ(result.verdict,
            "Taking away what 'words' points at changes the output by 0.1, no more than taking "
            "away random units (0.11): the picture does not show what the model used for these 20 "
            "examples.");
}

TEST(Verdict, UnsupportedWhenTheWeightsDoNotMatter) {
  const Faithfulness result =
      judged_with([](Sample& sample, int) { sample[Measure::Permuted].value = 0.002; });
  EXPECT_EQ(result.trust, "unsupported");
  EXPECT_NE(result.verdict.find("Shuffling the weights of 'words' changes the output by 0.002"),
            std::string::npos);
}

TEST(Verdict, UnsupportedWhenAnUntrainedNetworkDrawsTheSame) {
  const Faithfulness result =
      judged_with([](Sample& sample, int) { sample[Measure::UntrainedTau].value = 0.95; });
  EXPECT_EQ(result.trust, "unsupported");
  EXPECT_NE(result.verdict.find("before training draws nearly the same picture (tau 0.95)"),
            std::string::npos);
  EXPECT_EQ(
      judged_with([](Sample& sample, int) { sample[Measure::UntrainedTau].value = 0.5; }).trust,
      "supported");
}

TEST(Verdict, NumbersAreHeldAgainstTheirOwnRange) {
  const auto with_range = [](double range) {
    return judged_with([&](Sample& sample, int) {
      sample.values = true;
      sample.largest_change = range;
    });
  };
  EXPECT_EQ(with_range(1).trust, "supported");
  EXPECT_EQ(with_range(1000).trust, "unsupported");  // 0.58 of 1000 is nothing
}

TEST(Verdict, MixedSaysWhatSpeaksAgainst) {
  const auto expect_doubt = [](const char* words, const Faithfulness& result) {
    EXPECT_EQ(result.trust, "mixed") << result.verdict;
    EXPECT_NE(result.verdict.find(words), std::string::npos) << result.verdict;
    EXPECT_NE(result.verdict.find("only in part what the model used for these 20 examples."),
              std::string::npos);
  };
  expect_doubt("keeping only that changes it by 0.4, no less than keeping random units (0.4)",
               judged_with([](Sample& sample, int) {
                 sample[Measure::Sufficiency] = {0.4, 0.4};
               }));
  expect_doubt(
      "another order than their effects do (tau -0.1)",
      judged_with([](Sample& sample, int) { sample[Measure::LeaveOneOutTau].value = -0.1; }));
  expect_doubt("cannot tell this from chance", judged_with([](Sample& sample, int i) {
                 sample[Measure::Comprehensiveness].value = i == 0 ? 9.0 : 0.1;
               }));
  expect_doubt("hardly more", judged_with([](Sample& sample, int) {
                 sample[Measure::Comprehensiveness] = {0.155, 0.15};
               }));
}

TEST(Verdict, UnknownWithFewUnitsOrFigures) {
  Sample sample = good_sample();
  sample.units = 2;
  EXPECT_EQ(judged({sample}).trust, "unknown");
  EXPECT_EQ(judged({sample}).verdict,
            "'words' looks at 2 units: too few to tell which of them matter.");
  sample = good_sample();
  sample[Measure::Comprehensiveness] = sample[Measure::Sufficiency] = {};
  EXPECT_EQ(judged({sample}).trust, "unknown");
  EXPECT_NE(judged({sample}).verdict.find("0.58, but what it points at could not"),
            std::string::npos);
  EXPECT_EQ(judged({Sample()}).trust, "unknown");
  EXPECT_EQ(judged({}).trust, "unknown");
}

TEST(Verdict, WhatWasNotMeasuredIsNoObjection) {
  EXPECT_EQ(judged_with([](Sample& sample, int) {
              sample[Measure::Permuted] = sample[Measure::UntrainedTau] = {};
              sample[Measure::LeaveOneOutTau] = sample[Measure::GradientTau] = {};
            }).trust,
            "supported");
}

}  // namespace
}  // namespace fovea::faithfulness::verdict_test
