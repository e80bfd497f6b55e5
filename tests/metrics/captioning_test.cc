#include "fovea/metrics/captioning.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"
#include "tests/support/golden.h"

namespace fovea::captioning_test {
namespace {

using testing::expect_error;
using Outputs = std::vector<std::string>;

TEST(Captioning, WordsAreSmallAndWithoutPunctuation) {
  EXPECT_EQ(caption_words("A Dog, running; on Top of it . #1!"),
            (Outputs{"a", "dog", "running", "on", "top", "of", "it", "1"}));
  EXPECT_TRUE(caption_words(" . ").empty());
}

TEST(Captioning, MatchesTheReferenceScript) {
  for (const Json& corpus : testing::golden("captioning").at("corpora")) {
    const auto outputs = corpus["outputs"].get<Outputs>();
    const auto references = corpus["references"].get<std::vector<References>>();
    EXPECT_NEAR(rouge_l(outputs, references), corpus["rouge_l"].get<double>(), 1e-9);
    EXPECT_NEAR(cider(outputs, references), corpus["cider"].get<double>(), 1e-9);
  }
}

// By hand: the common subsequence "the cat sat" of 3 words, of 4 put out and 5 expected.
TEST(Captioning, RougeByHand) {
  const double precision = 3.0 / 4, recall = 3.0 / 5, squared = 1.44;
  EXPECT_NEAR(
      rouge_l(Outputs{"the cat sat down"}, std::vector<References>{{"the black cat sat up"}}),
      (1 + squared) * precision * recall / (recall + squared * precision), 1e-12);
}

// Two pictures told in their own words: every n-gram that there is matches, of orders 1 to 3.
TEST(Captioning, CiderByHand) {
  const Outputs outputs{"a dog runs", "two men talk"};
  const std::vector<References> references{{"a dog runs"}, {"two men talk"}};
  EXPECT_NEAR(cider(outputs, references), 10 * 3.0 / 4, 1e-12);
  const std::vector<References> swapped{references[1], references[0]};
  EXPECT_EQ(cider(outputs, swapped), 0);
  EXPECT_NEAR(cider(Outputs{"a dog runs a b c d e f", "two men talk"}, references),
              (10 * 3.0 / 4 + cider(Outputs{"a dog runs a b c d e f", "x"}, references) * 2) / 2,
              1e-12)
      << "pictures count alike";
}

TEST(Captioning, RefusesWhatDoesNotFit) {
  expect_error(ErrorKind::InvalidArgument, "references for 0", [] { cider(Outputs{"a"}, {}); });
  expect_error(ErrorKind::InvalidArgument, "no reference",
               [] { rouge_l(Outputs{"a"}, std::vector<References>{{}}); });
}

}  // namespace
}  // namespace fovea::captioning_test
