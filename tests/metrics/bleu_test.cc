#include <gtest/gtest.h>

#include "fovea/metrics/translation.h"
#include "tests/metrics/translation_samples.h"
#include "tests/support/expect_error.h"

namespace fovea::bleu_test {
namespace {

using Tokens = std::vector<std::string>;

TEST(Bleu, PrintsTheNumbersOfThePublishedExample) {
  const Bleu bleu = corpus_bleu(kDogOutputs, kDogReferences);
  EXPECT_EQ(
      bleu.text(),
      "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
  EXPECT_NEAR(bleu.score, 48.530827, 1e-6);
  EXPECT_NEAR(corpus_bleu(kDogOutputs, kDogReferences, {.tokenisation = "none"}).score, 49.1919566,
              1e-6);
}

TEST(Bleu, MatchesTheReferenceScript) {
  for (const Json& corpus : translation_golden("corpora")) {
    const auto outputs = corpus["outputs"].get<std::vector<std::string>>();
    const auto references = corpus["references"].get<std::vector<References>>();
    for (const Json& expected : corpus["bleu"]) {
      const BleuOptions options = {expected["lowercase"], expected["tokenisation"]};
      SCOPED_TRACE(concat(outputs.size(), " outputs, first '", outputs[0], "', ",
                          options.tokenisation, " lowercase ", options.lowercase));
      const Bleu bleu = corpus_bleu(outputs, references, options);
      EXPECT_NEAR(bleu.score, expected["score"].get<double>(), 1e-9);
      EXPECT_NEAR(bleu.brevity_penalty, expected["brevity_penalty"].get<double>(), 1e-12);
      EXPECT_EQ(bleu.output_length, expected["output_length"].get<int64_t>());
      EXPECT_EQ(bleu.reference_length, expected["reference_length"].get<int64_t>());
      for (size_t n = 0; n < 4; ++n)
        EXPECT_NEAR(bleu.precisions[n], expected["precisions"][n].get<double>(), 1e-9);
    }
    for (size_t row = 0; row < outputs.size(); ++row)
      EXPECT_NEAR(sentence_bleu(outputs[row], references[row]).score,
                  corpus["sentence_bleu"][row].get<double>(), 1e-9)
          << outputs[row];
  }
}

TEST(Bleu, FollowsFromTheSumsOfItsSentences) {
  for (const Json& corpus : translation_golden("corpora")) {
    const auto outputs = corpus["outputs"].get<std::vector<std::string>>();
    const auto references = corpus["references"].get<std::vector<References>>();
    std::vector<double> sums;
    for (size_t row = 0; row < outputs.size(); ++row) {
      const std::vector<double> own = bleu_counts(outputs[row], references[row]);
      sums.resize(own.size());
      for (size_t k = 0; k < own.size(); ++k) sums[k] += own[k];
    }
    EXPECT_EQ(bleu_of_counts(sums), corpus_bleu(outputs, references).score) << outputs[0];
  }
}

TEST(Bleu, TokenisesLikeMteval) {
  for (const Json& sample : translation_golden("tokens_13a"))
    EXPECT_EQ(tokenise_13a(sample["text"].get<std::string>()), sample["tokens"].get<Tokens>());
}

TEST(Bleu, StopsAndDashesInsideNumbersStay) {
  EXPECT_EQ(tokenise_13a("Pi is 3.14, or 3,1."),
            (Tokens{"Pi", "is", "3.14", ",", "or", "3,1", "."}));
  EXPECT_EQ(tokenise_13a("1990-2000 well-known"), (Tokens{"1990", "-", "2000", "well-known"}));
  EXPECT_EQ(tokenise_13a("&quot;a&amp;lt;b&quot; don't"),
            (Tokens{"\"", "a", "<", "b", "\"", "don't"}));
}

TEST(Bleu, MultiByteCharactersAreNeverCut) {
  EXPECT_EQ(tokenise_13a("東京.駅,ß\u3000é.5"),
            (Tokens{"東京", ".", "駅", ",", "ß", "é", ".", "5"}));
  EXPECT_EQ(tokenise_13a("a\xFF.\xC3"), (Tokens{"a\xFF", ".", "\xC3"}));
  EXPECT_EQ(sentence_bleu("é", {"è"}, {.tokenisation = "char"}).score, 0);
}

TEST(Bleu, AReferenceIsNeverCountedTwice) {
  // "the" occurs twice in the richest reference, so two of seven match.
  const Bleu bleu = corpus_bleu(Tokens{"the the the the the the the"},
                                std::vector<References>{{"the cat is on the mat", "a cat"}});
  EXPECT_NEAR(bleu.precisions[0], 200.0 / 7, 1e-12);
}

TEST(Bleu, OfTwoEquallyNearReferencesTheShorterGivesTheLength) {
  const std::vector<References> references = {{"a b c d", "a b"}};
  EXPECT_EQ(corpus_bleu(Tokens{"a b c"}, references).reference_length, 2);
}

TEST(Bleu, AShortSentenceIsJudgedByTheOrdersItHas) {
  EXPECT_NEAR(sentence_bleu("a test", {"a test"}).score, 100, 1e-9);
  EXPECT_EQ(corpus_bleu(Tokens{"a test"}, std::vector<References>{{"a test"}}).score, 0);
  EXPECT_EQ(sentence_bleu("", {"a test"}).score, 0);
  EXPECT_EQ(sentence_bleu("", {"a test"}).brevity_penalty, 0);
}

TEST(Bleu, SignatureNamesTheSettings) {
  EXPECT_EQ(bleu_signature(kDogReferences),
            "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:fovea-1");
  EXPECT_EQ(bleu_signature(std::vector<References>{{"a"}, {"b", "c"}}, {true, "char"}),
            "nrefs:var|case:lc|eff:no|tok:char|smooth:exp|version:fovea-1");
}

TEST(Bleu, RefusesWhatDoesNotFit) {
  const auto kind = ErrorKind::InvalidArgument;
  const std::vector<References> one = {{"a"}};
  testing::expect_error(kind, "2 outputs but references for 1", [&] {
    corpus_bleu(Tokens{"a", "b"}, one);
  });
  testing::expect_error(kind, "found none", [&] { corpus_bleu({}, {}); });
  testing::expect_error(kind, "output 1 has no reference", [&] {
    corpus_bleu(Tokens{"a", "b"}, std::vector<References>{{"a"}, {}});
  });
  testing::expect_error(kind, "no reference", [&] { sentence_bleu("a", {}); });
  testing::expect_error(kind, {"14a", "did you mean '13a'?"},
                        [&] { corpus_bleu(Tokens{"a"}, one, {.tokenisation = "14a"}); });
}

}  // namespace
}  // namespace fovea::bleu_test
