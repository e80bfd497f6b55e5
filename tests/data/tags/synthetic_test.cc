#include "fovea/data/tags/synthetic.h"

#include <map>
#include <set>

#include "tests/data/testing.h"

namespace fovea::tags::synthetic_test {
namespace {

SyntheticTagsOptions small(int64_t rows = 2000) {
  SyntheticTagsOptions options;
  options.rows = rows;
  options.validation_rows = 200;
  options.test_rows = 100;
  return options;
}

std::vector<TaggedSentence> all_rows(const SplitRows<TaggedSentence>& draw) {
  std::vector<TaggedSentence> all = draw.train;
  all.insert(all.end(), draw.validation.begin(), draw.validation.end());
  all.insert(all.end(), draw.test.begin(), draw.test.end());
  return all;
}

std::string text_of(const TaggedSentence& row) {
  return join(row.words, " ");
}

TEST(SyntheticTags, SizesAndSeeds) {
  const SplitRows<TaggedSentence> draw = draw_tags(small());
  EXPECT_EQ(draw.train.size(), 2000);
  EXPECT_EQ(draw.validation.size(), 200);
  EXPECT_EQ(draw.test.size(), 100);
  std::set<std::string> texts;
  for (const TaggedSentence& row : all_rows(draw)) texts.insert(text_of(row));
  EXPECT_EQ(texts.size(), 2300u);
  EXPECT_EQ(text_of(draw_tags(small()).train[7]), text_of(draw.train[7]));
  EXPECT_EQ(text_of(draw_tags(small(50)).test[7]), text_of(draw.test[7]));
  SyntheticTagsOptions other = small();
  other.seed = 2;
  EXPECT_NE(text_of(draw_tags(other).train[7]), text_of(draw.train[7]));
  EXPECT_TRUE(has_note(draw.notes, "2,000 training"));
}

TEST(SyntheticTags, EverySentenceHasANameInIob2) {
  for (const TaggedSentence& row : all_rows(draw_tags(small()))) {
    std::vector<std::string> tags = row.tags;
    ASSERT_EQ(tags.size(), row.words.size());
    EXPECT_EQ(normalise_tags(tags), 0) << text_of(row);
    EXPECT_NE(std::count_if(tags.begin(), tags.end(), [](auto& tag) { return tag[0] == 'B'; }), 0);
    for (const std::string& word : row.words) EXPECT_EQ(word.find('{'), std::string::npos);
  }
}

TEST(SyntheticTags, TheDecidingWordTellsTheTypeAndNothingElseDoes) {
  // By the deciding word a type is certain; by the name alone it is close to a fair draw of four.
  std::map<std::string, std::set<std::string>> by_cue;
  std::map<std::string, std::map<std::string, int>> by_name;
  for (const TaggedSentence& row : all_rows(draw_tags(small(6000)))) {
    std::map<int64_t, std::string> cues;
    for (const auto& [word, decides] : row.decisive) {
      ASSERT_NE(row.tags[size_t(word)], "O");
      ASSERT_EQ(row.tags[size_t(decides)], "O");
      cues[word] += row.words[size_t(decides)] + " ";
    }
    for (const auto& [word, cue] : cues) {
      const std::string type = row.tags[size_t(word)].substr(2);
      by_cue[cue].insert(type);
      ++by_name[row.words[size_t(word)]][type];
    }
  }
  EXPECT_EQ(by_cue.size(), 48u);
  for (const auto& [cue, types] : by_cue) EXPECT_EQ(types.size(), 1u) << cue;
  EXPECT_GT(by_name.size(), 20u);
  for (const auto& [name, types] : by_name) {
    ASSERT_EQ(types.size(), 4u) << name;
    int all = 0, most = 0;
    for (const auto& [type, count] : types) all += count, most = std::max(most, count);
    EXPECT_LT(most, all * 0.4) << name;
  }
}

TEST(SyntheticTags, ClearNamesHaveNoDecidingWord) {
  SyntheticTagsOptions options = small(300);
  options.ambiguous = 0;
  for (const TaggedSentence& row : all_rows(draw_tags(options))) EXPECT_TRUE(row.decisive.empty());
  options.ambiguous = 1;
  for (const TaggedSentence& row : all_rows(draw_tags(options))) {
    std::set<int64_t> explained;
    for (const auto& link : row.decisive) explained.insert(link.first);
    for (size_t i = 0; i < row.tags.size(); ++i)
      EXPECT_EQ(explained.contains(int64_t(i)), row.tags[i] != "O") << text_of(row);
  }
}

TEST(SyntheticTags, WhatCannotBeDrawn) {
  SyntheticTagsOptions options = small();
  options.maximum_clauses = 1;
  options.ambiguous = 1;
  options.rows = 100000;
  expect_error(ErrorKind::InvalidArgument, {"no more different", "maximum_clauses"},
               [&] { draw_tags(options); });
  options = small();
  options.rows = -1;
  expect_error(ErrorKind::InvalidArgument, {"-1"}, [&] { draw_tags(options); });
  options = small();
  options.ambiguous = 1.5;
  expect_error(ErrorKind::InvalidArgument, {"1.5"}, [&] { draw_tags(options); });
  options = small();
  options.maximum_clauses = 0;
  expect_error(ErrorKind::InvalidArgument, {"clause"}, [&] { draw_tags(options); });
}

}  // namespace
}  // namespace fovea::tags::synthetic_test
