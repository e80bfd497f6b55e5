#include "fovea/metrics/rationales.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/support/expect_error.h"

namespace fovea::rationales_test {
namespace {

using Numbers = std::vector<double>;
using Marks = std::vector<char>;

TEST(Rationales, AuprcIsAveragePrecision) {
  // Found in places 1, 3 and 4: (1/1 + 2/3 + 3/4) / 3.
  EXPECT_NEAR(auprc(Numbers{0.5, 0.1, 0.2, 0.15, 0.05}, Marks{1, 0, 0, 1, 0}).value(),
              (1.0 + 2.0 / 3) / 2, 1e-15);
  EXPECT_NEAR(auprc(Numbers{9, 8, 7, 6, 5}, Marks{1, 0, 1, 1, 0}).value(),
              (1.0 + 2.0 / 3 + 3.0 / 4) / 3, 1e-15);
  EXPECT_DOUBLE_EQ(auprc(Numbers{3, 2, 1}, Marks{1, 1, 0}).value(), 1);
  EXPECT_DOUBLE_EQ(auprc(Numbers{3, 2, 1}, Marks{0, 0, 1}).value(), 1.0 / 3);
}

TEST(Rationales, EqualWeightsComeInTogether) {
  // Whatever the order of the units: precision 2/4 at the only threshold.
  EXPECT_DOUBLE_EQ(auprc(Numbers{1, 1, 1, 1}, Marks{1, 1, 0, 0}).value(), 0.5);
  EXPECT_DOUBLE_EQ(auprc(Numbers{1, 1, 1, 1}, Marks{0, 0, 1, 1}).value(), 0.5);
  // 2 in front with one marked, then the rest: 1/2 * 1/2 + 1/2 * 2/4.
  EXPECT_DOUBLE_EQ(auprc(Numbers{5, 5, 1, 1}, Marks{1, 0, 0, 1}).value(), 0.5);
}

TEST(Rationales, TokenF1) {
  EXPECT_DOUBLE_EQ(token_f1(Marks{1, 1, 0, 0}, Marks{1, 0, 1, 1}).value(), 2.0 / 5);
  EXPECT_DOUBLE_EQ(token_f1(Marks{0, 0, 0}, Marks{1, 0, 1}).value(), 0);
  EXPECT_DOUBLE_EQ(token_f1(Marks{1, 0, 1}, Marks{1, 0, 1}).value(), 1);
}

TEST(Rationales, IouF1CountsRunsThatOverlapByHalf) {
  // Chosen 0-1 and 5, marked 0-2 and 7-8: the first pair shares 2 of 3, the second nothing.
  EXPECT_DOUBLE_EQ(
      iou_f1(Marks{1, 1, 0, 0, 0, 1, 0, 0, 0}, Marks{1, 1, 1, 0, 0, 0, 0, 1, 1}).value(), 0.5);
  // Exactly half counts, less does not.
  EXPECT_DOUBLE_EQ(iou_f1(Marks{1, 0, 0}, Marks{1, 1, 0}).value(), 1);
  EXPECT_DOUBLE_EQ(iou_f1(Marks{1, 0, 0}, Marks{1, 1, 1}).value(), 0);
  EXPECT_DOUBLE_EQ(iou_f1(Marks{1, 0, 0}, Marks{1, 1, 1}, 0.3).value(), 1);
  EXPECT_DOUBLE_EQ(iou_f1(Marks{0, 0, 0}, Marks{1, 1, 1}).value(), 0);
  // With a low threshold two chosen runs may match one marked run: still at most 1.
  EXPECT_DOUBLE_EQ(iou_f1(Marks{1, 0, 1}, Marks{1, 1, 1}, 0.3).value(), 1);
}

TEST(Rationales, UndefinedWithoutMarksOrNumbers) {
  EXPECT_FALSE(auprc(Numbers{1, 2}, Marks{0, 0}).has_value());
  EXPECT_FALSE(auprc(Numbers{}, Marks{}).has_value());
  EXPECT_FALSE(
      auprc(Numbers{1, std::numeric_limits<double>::quiet_NaN()}, Marks{0, 1}).has_value());
  EXPECT_FALSE(token_f1(Marks{1, 0}, Marks{0, 0}).has_value());
  EXPECT_FALSE(iou_f1(Marks{1, 0}, Marks{0, 0}).has_value());
}

TEST(Rationales, RefusesSizesThatDiffer) {
  testing::expect_error(ErrorKind::InvalidArgument, {"2 units", "1 marks"}, [] {
    auprc(Numbers{1, 2}, Marks{1});
  });
  testing::expect_error(ErrorKind::InvalidArgument, "1 marks", [] {
    token_f1(Marks{1, 0}, Marks{1});
  });
  testing::expect_error(ErrorKind::InvalidArgument, "0..1",
                        [] { iou_f1(Marks{1}, Marks{1}, 1.5); });
}

}  // namespace
}  // namespace fovea::rationales_test
