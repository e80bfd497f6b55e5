#include "fovea/data/corpus/synthetic.h"

#include <gtest/gtest.h>

#include <set>

namespace fovea::corpus::synthetic_test {
namespace {

TEST(SyntheticCorpus, AreTheSameHoweverManyThereAre) {
  SyntheticCorpusOptions few, many;
  few.rows = 5, many.rows = 50;
  const SplitRows<Document> some = draw_corpus(few), more = draw_corpus(many);
  ASSERT_EQ(some.train.size(), 5);
  ASSERT_EQ(more.train.size(), 50);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(some.train[i], more.train[i]);
  std::set<std::string> different;
  for (const auto& story : more.train) {
    ASSERT_EQ(story.size(), 8u);
    std::string whole;
    for (const std::string& sentence : story) {
      EXPECT_EQ(sentence.find_first_of("{}"), std::string::npos) << sentence;
      whole += sentence;
    }
    different.insert(whole);
  }
  EXPECT_GT(different.size(), 45u);
  EXPECT_NE(some.train[0], some.validation[0]);
}

}  // namespace
}  // namespace fovea::corpus::synthetic_test
