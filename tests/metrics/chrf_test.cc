#include <gtest/gtest.h>

#include "fovea/metrics/translation.h"
#include "tests/metrics/translation_samples.h"
#include "tests/support/expect_error.h"

namespace fovea::chrf_test {
namespace {

TEST(Chrf, GivesTheNumberOfThePublishedExample) {
  EXPECT_NEAR(corpus_chrf(kDogOutputs, kDogReferences), 59.73, 0.005);
}

TEST(Chrf, MatchesTheReferenceScript) {
  for (const Json& corpus : translation_golden("corpora")) {
    const auto outputs = corpus["outputs"].get<std::vector<std::string>>();
    const auto references = corpus["references"].get<std::vector<References>>();
    for (const Json& expected : corpus["chrf"]) {
      const ChrfOptions options = {expected["characters"], expected["words"], expected["beta"]};
      EXPECT_NEAR(corpus_chrf(outputs, references, options), expected["score"].get<double>(), 1e-9)
          << outputs[0] << " characters " << options.characters << " words " << options.words;
    }
    for (size_t row = 0; row < outputs.size(); ++row)
      EXPECT_NEAR(sentence_chrf(outputs[row], references[row]),
                  corpus["sentence_chrf"][row].get<double>(), 1e-9)
          << outputs[row];
  }
}

TEST(Chrf, OrdersThatATextIsTooShortForAreLeftOut) {
  EXPECT_DOUBLE_EQ(sentence_chrf("a", {"a"}), 100);
  EXPECT_DOUBLE_EQ(sentence_chrf("a b c", {"abc"}), 100);
  EXPECT_DOUBLE_EQ(sentence_chrf("aa", {"ab"}), 25);  // 1/2 of the letters, none of the pairs
  EXPECT_EQ(sentence_chrf("", {"reference"}), 0);
  EXPECT_EQ(sentence_chrf("a", {""}), 0);
}

TEST(Chrf, TheBestReferenceCounts) {
  EXPECT_DOUBLE_EQ(sentence_chrf("dog", {"cat", "dog", "frog"}), 100);
}

TEST(Chrf, CharactersAreCodePointsAndBlanksAnyWhiteSpace) {
  EXPECT_DOUBLE_EQ(sentence_chrf("é", {"è"}), 0);  // the first of their two bytes is the same
  EXPECT_DOUBLE_EQ(sentence_chrf("東\u3000京", {"東京"}), 100);
}

TEST(Chrf, RefusesWhatDoesNotFit) {
  const auto kind = ErrorKind::InvalidArgument;
  const std::vector<std::string> two = {"a", "b"};
  const std::vector<References> one = {{"a"}};
  testing::expect_error(kind, "2 outputs but references for 1", [&] { corpus_chrf(two, one); });
  testing::expect_error(kind, "no reference", [&] { sentence_chrf("a", {}); });
  testing::expect_error(kind, "at least one order",
                        [&] { sentence_chrf("a", {"a"}, {.characters = 0}); });
  testing::expect_error(kind, "beta", [&] { sentence_chrf("a", {"a"}, {.beta = 0}); });
}

}  // namespace
}  // namespace fovea::chrf_test
