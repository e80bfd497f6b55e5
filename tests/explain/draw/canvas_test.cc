#include "fovea/explain/draw/canvas.h"

#include <gtest/gtest.h>

namespace fovea::canvas_test {
namespace {

TEST(Canvas, TextWidthFollowsTheFont) {
  EXPECT_DOUBLE_EQ(text_width("", 12), 0);
  EXPECT_NEAR(text_width("iiii", 10), 4 * 2.78, 1e-9);
  EXPECT_NEAR(text_width("WW", 10), 2 * 9.89, 1e-9);
  EXPECT_NEAR(text_width("日", 10), 10, 1e-9);
  EXPECT_NEAR(text_width("e\xCC\x81", 10), 7.5, 1e-9);
  EXPECT_GT(text_width("abc", 10, true), text_width("abc", 10));
}

TEST(Canvas, FittedTextFits) {
  EXPECT_EQ(fitted("short", 100, 12), "short");
  const std::string cut = fitted("a rather long label that cannot fit", 80, 12);
  EXPECT_LE(text_width(cut, 12), 80);
  EXPECT_GT(text_width(cut, 12), 60);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_EQ(fitted("a\nb", 100, 12), "a\\nb");
}

TEST(Canvas, MixGoesFromOneColourToTheOther) {
  const Colour half = mix({0, 0, 0}, {200, 100, 255}, 0.5);
  EXPECT_EQ(half.red, 100);
  EXPECT_EQ(half.green, 50);
  EXPECT_EQ(half.blue, 128);
}

}  // namespace
}  // namespace fovea::canvas_test
