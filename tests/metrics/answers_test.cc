#include "fovea/metrics/answers.h"

#include <gtest/gtest.h>

#include <vector>

namespace fovea::answers_test {
namespace {

using Texts = std::vector<std::string>;

TEST(Answers, AreNormalisedAsTheOfficialScriptDoes) {
  EXPECT_EQ(normalise_answer("The  Eiffel-Tower!"), "eiffeltower");
  EXPECT_EQ(normalise_answer(" a\tman, an ape and the end "), "man ape and end");
  EXPECT_EQ(normalise_answer("theatre another A"), "theatre another");
  EXPECT_EQ(normalise_answer("U.S.A."), "usa");
  EXPECT_EQ(normalise_answer("ÄPFEL und Ölberg"), "äpfel und ölberg");
  EXPECT_EQ(normalise_answer("the–man"), "–man");  // a dash that is no ASCII is a boundary
  EXPECT_EQ(normalise_answer("over the\u00a0top"), "over top");
  EXPECT_EQ(normalise_answer("The"), "");
}

TEST(Answers, F1CountsWordsThatBothHave) {
  const Texts right{"the cat sat", "a black cat"};
  const AnswerScore exact = score_answer("Cat sat.", right, false);
  EXPECT_EQ(exact.exact_match, 1);
  EXPECT_EQ(exact.f1, 1);
  const AnswerScore some = score_answer("black cat cat", right, false);
  EXPECT_EQ(some.exact_match, 0);
  EXPECT_NEAR(some.f1, 2 * (2. / 3) * 1 / (2. / 3 + 1), 1e-12);  // the second "cat" is too many
  EXPECT_EQ(score_answer("dog", right, false).f1, 0);
}

TEST(Answers, QuestionsWithoutAnAnswer) {
  EXPECT_EQ(score_answer("", Texts{}, true).f1, 1);
  EXPECT_EQ(score_answer("", Texts{}, true).exact_match, 1);
  EXPECT_EQ(score_answer("cat", Texts{}, true).f1, 0);
  EXPECT_EQ(score_answer("", Texts{"cat"}, true).f1, 0);
  // 2.0 leaves out right answers of articles alone, 1.1 has no word to count.
  EXPECT_EQ(score_answer("", Texts{"the"}, true).f1, 1);
  EXPECT_EQ(score_answer("a", Texts{"the"}, false).exact_match, 1);
  EXPECT_EQ(score_answer("a", Texts{"the"}, false).f1, 0);
}

}  // namespace
}  // namespace fovea::answers_test
