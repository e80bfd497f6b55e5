#include "fovea/data/documents/synthetic.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/data/documents/drawn_texts.h"
#include "tests/support/expect_error.h"

namespace fovea::synthetic_texts_test {
namespace {

using testing::expect_error;

SyntheticTextsOptions small() {
  SyntheticTextsOptions options;
  options.rows = 400;
  options.validation_rows = options.test_rows = 50;
  return options;
}

const std::set<std::string> kGood = {"wonderful", "brilliant",  "moving",     "funny",
                                     "thrilling", "superb",     "clever",     "charming",
                                     "gripping",  "delightful", "convincing", "splendid"};

TEST(SyntheticTexts, TheDecisiveWordsAloneGiveTheLabel) {
  for (const LabelledText& row : draw_texts(small()).train) {
    ASSERT_FALSE(row.decisive.empty()) << row.text;
    bool negated = false;
    int judgements = 0;
    for (const std::string& word : decisive_words(row)) {
      EXPECT_EQ(word.find_first_of(" .{}"), std::string::npos) << word;
      if (word == "not") {
        negated = true;
        continue;
      }
      EXPECT_EQ(kGood.contains(word) != negated, is_praise(row)) << row.text;
      negated = false;
      ++judgements;
    }
    EXPECT_GE(judgements, 1);
  }
}

TEST(SyntheticTexts, OthersDisagreeOftenEnough) {
  int64_t misleading = 0, praise = 0;
  const std::vector<LabelledText> rows = draw_texts(small()).train;
  for (const LabelledText& row : rows) {
    int64_t kind = 0;
    for (const std::string& word : kGood) kind += row.text.find(" " + word) != std::string::npos;
    misleading += (kind > 0) != is_praise(row);
    praise += is_praise(row);
  }
  EXPECT_GT(misleading, int64_t(rows.size()) / 5) << "counting kind words must not be enough";
  EXPECT_NEAR(double(praise) / double(rows.size()), 0.5, 0.1);
}

TEST(SyntheticTexts, TextsAreDifferentAndTheSameForASeed) {
  expect_different_texts(small(), draw_texts);
}

TEST(SyntheticTexts, RefusesMoreThanThereAre) {
  SyntheticTextsOptions options = small();
  options.maximum_sentences = 1;
  options.rows = 100000;
  expect_error(ErrorKind::InvalidArgument, "maximum_sentences", [&] { draw_texts(options); });
  options.rows = -1;
  EXPECT_THROW(draw_texts(options), Error);
}

}  // namespace
}  // namespace fovea::synthetic_texts_test
