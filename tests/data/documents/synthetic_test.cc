#include "fovea/data/documents/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/expect_error.h"

namespace fovea {
namespace {

using testing::expect_error;

VerdictsOptions small(bool context = false) {
  VerdictsOptions options;
  options.rows = 600;
  options.validation_rows = options.test_rows = 50;
  options.context = context;
  return options;
}

std::vector<std::string> decisive_words(const Verdict& verdict) {
  std::vector<std::string> words;
  for (const Span& span : verdict.decisive)
    words.push_back(verdict.text.substr(size_t(span.begin), size_t(span.end - span.begin)));
  return words;
}

TEST(Verdicts, TheDecisiveWordAloneGivesTheLabel) {
  std::map<std::string, std::set<bool>> meanings;
  for (const Verdict& verdict : draw_verdicts(small()).train) {
    ASSERT_GE(verdict.decisive.size(), 1u);
    ASSERT_LE(verdict.decisive.size(), 2u);
    for (const std::string& word : decisive_words(verdict)) {
      EXPECT_EQ(word.find_first_of(" .{}"), std::string::npos) << verdict.text;
      meanings[word].insert(verdict.praise);
    }
  }
  EXPECT_EQ(meanings.size(), 18u);
  for (const auto& [word, labels] : meanings) EXPECT_EQ(labels.size(), 1u) << word;
}

TEST(Verdicts, InContextAWordMeansTheOppositeOfAnotherThing) {
  std::map<std::string, std::set<bool>> of_words, of_pairs;
  for (const Verdict& verdict : draw_verdicts(small(true)).train) {
    const std::vector<std::string> words = decisive_words(verdict);
    ASSERT_EQ(words.size() % 2, 0u) << "a thing and a word for it";
    for (size_t i = 0; i < words.size(); i += 2) {
      of_words[words[i + 1]].insert(verdict.praise);
      of_pairs[words[i] + " " + words[i + 1]].insert(verdict.praise);
    }
  }
  EXPECT_EQ(of_words.size(), 10u);
  for (const auto& [word, labels] : of_words) EXPECT_EQ(labels.size(), 2u) << word;
  for (const auto& [pair, labels] : of_pairs) EXPECT_EQ(labels.size(), 1u) << pair;
}

TEST(Verdicts, WhatOthersSayDecidesNothing) {
  int64_t agree = 0, all = 0, praise = 0;
  std::map<std::string, std::set<bool>> own;
  const std::vector<Verdict> rows = draw_verdicts(small()).train;
  for (const Verdict& verdict : rows)
    for (const std::string& word : decisive_words(verdict)) own[word].insert(verdict.praise);
  for (const Verdict& verdict : rows) {
    praise += verdict.praise;
    for (const auto& [word, labels] : own)
      for (size_t at = verdict.text.find(word); at != std::string::npos;
           at = verdict.text.find(word, at + 1)) {
        const bool decides =
            std::any_of(verdict.decisive.begin(), verdict.decisive.end(),
                        [&](const Span& span) { return span.begin == int64_t(at); });
        if (decides) continue;
        ++all;
        agree += labels.contains(verdict.praise);
      }
  }
  EXPECT_GT(all, int64_t(rows.size())) << "there is enough of it";
  EXPECT_NEAR(double(agree) / double(all), 0.5, 0.05);
  EXPECT_NEAR(double(praise) / double(rows.size()), 0.5, 0.1);
}

TEST(Verdicts, TextsAreDifferentAndTheSameForASeed) {
  const VerdictsDraw draw = draw_verdicts(small()), again = draw_verdicts(small());
  std::set<std::string> texts;
  for (const auto* part : {&draw.train, &draw.validation, &draw.test})
    for (const Verdict& verdict : *part) EXPECT_TRUE(texts.insert(verdict.text).second);
  EXPECT_EQ(texts.size(), 700u);
  EXPECT_EQ(draw.train[7].text, again.train[7].text);
  VerdictsOptions more = small();
  more.rows = 900;
  EXPECT_EQ(draw_verdicts(more).test[3].text, draw.test[3].text);
  more.seed = 2;
  EXPECT_NE(draw_verdicts(more).test[3].text, draw.test[3].text);
}

TEST(Verdicts, RefusesWhatCannotBeDrawn) {
  VerdictsOptions options = small();
  options.rows = -1;
  EXPECT_THROW(draw_verdicts(options), Error);
  options = small();
  options.sentences = 2;
  expect_error(ErrorKind::InvalidArgument, "at least 3", [&] { draw_verdicts(options); });
}

}  // namespace
}  // namespace fovea
