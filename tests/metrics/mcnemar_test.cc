#include "fovea/metrics/mcnemar.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fovea::mcnemar_test {
namespace {

TEST(McNemar, CountsTheWaysByHand) {
  EXPECT_DOUBLE_EQ(mcnemar_exact(0, 0), 1);
  EXPECT_NEAR(mcnemar_exact(0, 1), 1, 1e-12);
  EXPECT_NEAR(mcnemar_exact(0, 5), 2.0 / 32, 1e-12);
  EXPECT_NEAR(mcnemar_exact(1, 5), 2.0 * (1 + 6) / 64, 1e-12);
  EXPECT_NEAR(mcnemar_exact(2, 8), 2.0 * (1 + 10 + 45) / 1024, 1e-12);
  EXPECT_NEAR(mcnemar_exact(4, 4), 1, 1e-12) << "the middle counts twice, and p is no more than 1";
}

TEST(McNemar, TwoSidesAreAlike) {
  for (int64_t b = 0; b < 12; ++b)
    for (int64_t c = 0; c < 12; ++c) EXPECT_DOUBLE_EQ(mcnemar_exact(b, c), mcnemar_exact(c, b));
}

TEST(McNemar, ManyRowsStayFinite) {
  EXPECT_NEAR(mcnemar_exact(5000, 5000), 1, 1e-9);
  EXPECT_GT(mcnemar_exact(4900, 5100), 0.04);  // the normal distribution says 0.0466
  EXPECT_LT(mcnemar_exact(4900, 5100), 0.05);
  EXPECT_EQ(mcnemar_exact(0, 5000), 0) << "below the smallest number";
}

}  // namespace
}  // namespace fovea::mcnemar_test
