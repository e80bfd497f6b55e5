#include "fovea/tasks/truth.h"

#include <gtest/gtest.h>
#include <cmath>

namespace fovea::truth_test {
namespace {

TEST(Truth, OfAClassIsRightOrWrong) {
  const Json answer{{"class", "yes"}, {"probability", 0.75}};
  EXPECT_EQ(compare_truth(answer, "yes")->right, true);
  EXPECT_EQ(compare_truth(answer, " yes ")->right, true);
  EXPECT_EQ(compare_truth(answer, "no")->right, false);
  EXPECT_EQ(compare_truth(answer, "no")->text, "no");
  EXPECT_FALSE(compare_truth(answer, "")) << "not known";
  EXPECT_FALSE(compare_truth({{"embedding", {1, 2}}}, "yes")) << "nothing to compare";
  EXPECT_FALSE(compare_truth(nullptr, "yes"));
}

TEST(Truth, OfLabelsIsASet) {
  const Json answer{{"labels", {"b", "a"}}, {"scores", Json::object()}};
  EXPECT_EQ(compare_truth(answer, "a|b")->right, true);
  EXPECT_EQ(compare_truth(answer, "a | b")->text, "a, b");
  EXPECT_EQ(compare_truth(answer, "a")->right, false);
  EXPECT_EQ(compare_truth(answer, "(none)")->right, false);
  const Json none{{"labels", Json::array()}};
  EXPECT_EQ(compare_truth(none, "(none)")->right, true);
  EXPECT_EQ(compare_truth(none, "(none)")->text, "no label");
}

TEST(Truth, OfANumberIsNearOrFar) {
  const Json answer{{"value", 301.25}};
  const auto truth = compare_truth(answer, "310");
  EXPECT_FALSE(truth->right);
  EXPECT_EQ(truth->text, "310");
  EXPECT_EQ(truth->remark, "the answer is 8.75 too low");
  EXPECT_EQ(compare_truth(answer, "300")->remark, "the answer is 1.25 too high");
  EXPECT_EQ(compare_truth(answer, "301.25")->remark, "the same");
  EXPECT_FALSE(compare_truth(answer, "many"));
}

TEST(Truth, OfARatingIsANumber) {
  EXPECT_EQ(compare_truth({{"rating", 3.5}}, "4")->remark, "the answer is 0.5 too low");
}

TEST(Truth, OfTagsIsOneForEachWord) {
  const Json answer{{"words", {"Ann", "sat"}}, {"tags", {"B-PER", "O"}}};
  EXPECT_EQ(compare_truth(answer, " B-PER  O ")->right, true);
  EXPECT_EQ(compare_truth(answer, "B-PER|O")->text, "B-PER O");
  EXPECT_EQ(compare_truth(answer, "B-PER")->right, false);
  EXPECT_EQ(compare_truth(answer, " ")->right, false);
}

TEST(Truth, OfASpanIsThoseWords) {
  const Json answer{{"answer", "the Eiffel Tower"}, {"score", 0.5}};
  EXPECT_EQ(compare_truth(answer, "Eiffel tower.")->right, true);
  EXPECT_EQ(compare_truth(answer, "Paris")->right, false);
  EXPECT_EQ(compare_truth(answer, "no answer")->right, false);
  const Json none{{"answer", nullptr}, {"score", 0.5}};
  EXPECT_EQ(compare_truth(none, "no answer")->right, true);
  EXPECT_EQ(compare_truth(none, "Paris")->right, false);
}

TEST(Truth, AChoiceGoesByItsNumberToo) {
  Prediction prediction;
  prediction.outputs = {{{1}, 0, "second"}, {{0}, 0, "first"}};
  const Json answer{{"choice", "second"}, {"index", 1}};
  EXPECT_EQ(named_choice(answer, prediction, "0"), "first");
  EXPECT_EQ(named_choice(answer, prediction, "7"), "7");
  EXPECT_EQ(named_choice(answer, prediction, "second"), "second");
  EXPECT_EQ(named_choice({{"class", "1"}}, prediction, "1"), "1");
}

TEST(Truth, SharesAreSortedAndKeepWhatMatters) {
  Json scores = Json::object();
  for (int i = 0; i < 80; ++i) scores["c" + std::to_string(i)] = i / 1000.0;
  const Json answer{{"class", "c1"}, {"scores", scores}};
  const std::vector<AnswerShare> shares = answer_shares(answer, {}, "c0");
  ASSERT_EQ(shares.size(), kMostShares + 2) << "besides the likeliest the answer and the truth";
  EXPECT_EQ(shares[0].label, "c79");
  EXPECT_EQ(shares[kMostShares].label, "c1");
  EXPECT_TRUE(shares[kMostShares].given);
  EXPECT_EQ(shares[kMostShares + 1].label, "c0");
  EXPECT_FALSE(shares[kMostShares + 1].given);
  EXPECT_TRUE(answer_shares({{"value", 1}}, {}, "").empty());
}

TEST(Truth, SharesOfChoicesHaveTheirTexts) {
  Prediction prediction;
  prediction.outputs = {{{1}, std::log(0.75), "second"}, {{0}, std::log(0.25), "first"}};
  const Json answer{{"choice", "second"}, {"probabilities", {0.25, 0.75}}};
  const std::vector<AnswerShare> shares = answer_shares(answer, prediction, "");
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].label, "second");
  EXPECT_TRUE(shares[0].given);
  EXPECT_NEAR(shares[1].probability, 0.25, 1e-12);
}

TEST(Truth, InputsThatReadAlikeAreTheSame) {
  const Json given{{"age", 39}, {"plan", "Pro "}, {"note", nullptr}};
  EXPECT_EQ(input_key(given), input_key({{"plan", "Pro"}, {"age", "39"}}));
  EXPECT_EQ(input_key(given), input_key({{"plan", "Pro"}, {"age", 39.0}}));
  EXPECT_NE(input_key(given), input_key({{"plan", "Pro"}, {"age", "40"}}));
  EXPECT_NE(input_key({{"a", "b c d"}}), input_key({{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(input_key("9 May"), input_key(" 9 May"));
}

}  // namespace
}  // namespace fovea::truth_test
