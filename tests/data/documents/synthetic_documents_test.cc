#include "fovea/data/documents/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/data/documents/drawn_texts.h"
#include "tests/support/expect_error.h"

namespace fovea::synthetic_documents_test {
namespace {

using testing::expect_error;

SyntheticDocumentsOptions small(bool context = false) {
  SyntheticDocumentsOptions options;
  options.rows = 600;
  options.validation_rows = options.test_rows = 50;
  options.context = context;
  return options;
}

TEST(SyntheticDocuments, TheDecisiveWordAloneGivesTheLabel) {
  std::map<std::string, std::set<bool>> meanings;
  for (const LabelledText& row : draw_documents(small()).train) {
    ASSERT_GE(row.decisive.size(), 1u);
    ASSERT_LE(row.decisive.size(), 2u);
    for (const std::string& word : decisive_words(row)) {
      EXPECT_EQ(word.find_first_of(" .{}"), std::string::npos) << row.text;
      meanings[word].insert(is_praise(row));
    }
  }
  EXPECT_EQ(meanings.size(), 18u);
  for (const auto& [word, labels] : meanings) EXPECT_EQ(labels.size(), 1u) << word;
}

TEST(SyntheticDocuments, InContextAWordMeansTheOppositeOfAnotherThing) {
  std::map<std::string, std::set<bool>> of_words, of_pairs;
  for (const LabelledText& row : draw_documents(small(true)).train) {
    const std::vector<std::string> words = decisive_words(row);
    ASSERT_EQ(words.size() % 2, 0u) << "a thing and a word for it";
    for (size_t i = 0; i < words.size(); i += 2) {
      of_words[words[i + 1]].insert(is_praise(row));
      of_pairs[words[i] + " " + words[i + 1]].insert(is_praise(row));
    }
  }
  EXPECT_EQ(of_words.size(), 10u);
  for (const auto& [word, labels] : of_words) EXPECT_EQ(labels.size(), 2u) << word;
  for (const auto& [pair, labels] : of_pairs) EXPECT_EQ(labels.size(), 1u) << pair;
}

TEST(SyntheticDocuments, WhatOthersSayDecidesNothing) {
  int64_t agree = 0, all = 0, praise = 0;
  std::map<std::string, std::set<bool>> own;
  const std::vector<LabelledText> rows = draw_documents(small()).train;
  for (const LabelledText& row : rows)
    for (const std::string& word : decisive_words(row)) own[word].insert(is_praise(row));
  for (const LabelledText& row : rows) {
    praise += is_praise(row);
    for (const auto& [word, labels] : own)
      for (size_t at = row.text.find(word); at != std::string::npos;
           at = row.text.find(word, at + 1)) {
        const bool decides =
            std::any_of(row.decisive.begin(), row.decisive.end(),
                        [&](const Span& span) { return span.begin == int64_t(at); });
        if (decides) continue;
        ++all;
        agree += labels.contains(is_praise(row));
      }
  }
  EXPECT_GT(all, int64_t(rows.size())) << "there is enough of it";
  EXPECT_NEAR(double(agree) / double(all), 0.5, 0.05);
  EXPECT_NEAR(double(praise) / double(rows.size()), 0.5, 0.1);
}

TEST(SyntheticDocuments, TextsAreDifferentAndTheSameForASeed) {
  expect_different_texts(small(), draw_documents);
}

TEST(SyntheticDocuments, RefusesWhatCannotBeDrawn) {
  SyntheticDocumentsOptions options = small();
  options.rows = -1;
  EXPECT_THROW(draw_documents(options), Error);
  options = small();
  options.sentences = 2;
  expect_error(ErrorKind::InvalidArgument, "at least 3", [&] { draw_documents(options); });
}

}  // namespace
}  // namespace fovea::synthetic_documents_test
