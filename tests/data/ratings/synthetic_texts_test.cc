#include "fovea/data/ratings/synthetic_texts.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/expect_error.h"

namespace fovea {
namespace {

using testing::expect_error;

OpinionsOptions small() {
  OpinionsOptions options;
  options.rows = 400;
  options.validation_rows = options.test_rows = 50;
  return options;
}

const std::set<std::string> kGood = {"wonderful", "brilliant",  "moving",     "funny",
                                     "thrilling", "superb",     "clever",     "charming",
                                     "gripping",  "delightful", "convincing", "splendid"};

TEST(Opinions, TheDecisiveWordsAloneGiveTheLabel) {
  for (const Opinion& opinion : draw_opinions(small()).train) {
    ASSERT_FALSE(opinion.decisive.empty()) << opinion.text;
    bool negated = false;
    int judgements = 0;
    for (const Span& span : opinion.decisive) {
      const std::string word =
          opinion.text.substr(size_t(span.begin), size_t(span.end - span.begin));
      EXPECT_EQ(word.find_first_of(" .{}"), std::string::npos) << word;
      if (word == "not") {
        negated = true;
        continue;
      }
      EXPECT_EQ(kGood.contains(word) != negated, opinion.praise) << opinion.text;
      negated = false;
      ++judgements;
    }
    EXPECT_GE(judgements, 1);
  }
}

TEST(Opinions, OthersDisagreeOftenEnough) {
  int64_t misleading = 0, praise = 0;
  const std::vector<Opinion> rows = draw_opinions(small()).train;
  for (const Opinion& opinion : rows) {
    int64_t kind = 0;
    for (const std::string& word : kGood)
      kind += opinion.text.find(" " + word) != std::string::npos;
    misleading += (kind > 0) != opinion.praise;
    praise += opinion.praise;
  }
  EXPECT_GT(misleading, int64_t(rows.size()) / 5) << "counting kind words must not be enough";
  EXPECT_NEAR(double(praise) / double(rows.size()), 0.5, 0.1);
}

TEST(Opinions, TextsAreDifferentAndTheSameForASeed) {
  const OpinionsDraw draw = draw_opinions(small()), again = draw_opinions(small());
  std::set<std::string> texts;
  for (const auto* part : {&draw.train, &draw.validation, &draw.test})
    for (const Opinion& opinion : *part) EXPECT_TRUE(texts.insert(opinion.text).second);
  EXPECT_EQ(texts.size(), 500u);
  EXPECT_EQ(draw.train[7].text, again.train[7].text);
  OpinionsOptions more = small();
  more.rows = 600;
  EXPECT_EQ(draw_opinions(more).test[3].text, draw.test[3].text);
  more.seed = 2;
  EXPECT_NE(draw_opinions(more).test[3].text, draw.test[3].text);
}

TEST(Opinions, RefusesMoreThanThereAre) {
  OpinionsOptions options = small();
  options.maximum_sentences = 1;
  options.rows = 100000;
  expect_error(ErrorKind::InvalidArgument, "maximum_sentences", [&] { draw_opinions(options); });
  options.rows = -1;
  EXPECT_THROW(draw_opinions(options), Error);
}

}  // namespace
}  // namespace fovea
