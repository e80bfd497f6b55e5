#include "fovea/data/tags/word_features.h"

#include <gtest/gtest.h>

#ifdef FOVEA_WITH_ICU

namespace fovea::word_features_test {
namespace {

TEST(WordFeatures, ShapesSayCaseAndDigits) {
  EXPECT_EQ(word_shape("Fovea-2b"), "Xx-dx");
  EXPECT_EQ(word_shape("NASA"), "X");
  EXPECT_EQ(word_shape("Élan"), "Xx");
  EXPECT_EQ(word_shape("東京"), "x");
  EXPECT_EQ(word_shape(""), "");
}

TEST(WordFeatures, SeeTheNeighboursAndTheEnds) {
  const std::vector<std::string> ab{"ab", "cd"}, ax{"ab", "xx"};
  const auto one = word_features(ab), other = word_features(ax);
  ASSERT_EQ(int64_t(one.size()), 2 * kWordFeatures);
  const int64_t before = kOwnFeatures + kNeighbourFeatures;
  for (int64_t i = 0; i < before; ++i) EXPECT_EQ(one[size_t(i)], other[size_t(i)]) << i;
  EXPECT_NE(one[size_t(before)], other[size_t(before)]) << "the word behind";
  for (const int64_t feature : one) EXPECT_TRUE(feature > 0 && feature < kFeatureNumbers);
}

}  // namespace
}  // namespace fovea::word_features_test

#endif
