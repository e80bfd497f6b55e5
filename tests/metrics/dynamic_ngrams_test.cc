#include "fovea/metrics/dynamic_ngrams.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace fovea::dynamic_ngrams_test {
namespace {

using testing::expect_error;

TEST(DynamicNgrams, EqualsAHandCalculation) {
  // Contexts of one bit. 1 after 0: not seen yet, 1/2; then 0 follows 1: 1/2; 1 after 0 with one 1
  // seen: 1.5 / 2; 1 after 1 with one 0 seen: 0.5 / 2; 0 after 1 with a 0 and a 1: 1.5 / 3.
  const std::vector<int64_t> bits{0, 1, 0, 1, 1, 0};
  EXPECT_EQ(optimal_ngrams(bits, 2), (std::vector<double>{0.5, 0.5, 0.5, 0.75, 0.25, 0.5}));
}

TEST(DynamicNgrams, WithoutAContextBitsAreCounted) {
  const std::vector<int64_t> bits{1, 1, 1, 0};
  EXPECT_EQ(optimal_ngrams(bits, 1), (std::vector<double>{0.5, 0.75, 2.5 / 3, 3.5 / 4}));
}

TEST(DynamicNgrams, TheFirstBitsHaveNoContext) {
  const std::vector<int64_t> bits{1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<double> guesses = optimal_ngrams(bits, 6);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(guesses[i], 0.5) << i;
  EXPECT_EQ(guesses[6], 0.75) << "11111 was followed by a 1 once";
  EXPECT_TRUE(optimal_ngrams({}, 6).empty());
}

TEST(DynamicNgrams, RefusesAnOrderThatCannotBe) {
  expect_error(ErrorKind::InvalidArgument, "N = 0", [] { optimal_ngrams({}, 0); });
  expect_error(ErrorKind::InvalidArgument, "N = 40", [] { optimal_ngrams({}, 40); });
}

}  // namespace
}  // namespace fovea::dynamic_ngrams_test
