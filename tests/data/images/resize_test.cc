#include "fovea/data/images/resize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"

namespace fovea::resize_test {
namespace {

using testing::expect_error;

Image ramp(int64_t height, int64_t width) {
  Image image = make_image(height, width, 3);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t channel = 0; channel < 3; ++channel)
        image.at(y, x, channel) = uint8_t(10 * y + 3 * x + channel);
  return image;
}

TEST(Resize, TheSameSizeIsTheSame) {
  EXPECT_EQ(resize(ramp(7, 5), 7, 5).pixels, ramp(7, 5).pixels);
}

TEST(Resize, ShrinkingTakesTheMeanOfTheArea) {
  const Image image = ramp(6, 4), half = resize(image, 3, 2);
  for (int64_t y = 0; y < 3; ++y)
    for (int64_t x = 0; x < 2; ++x) {
      const int sum = image.at(2 * y, 2 * x, 1) + image.at(2 * y, 2 * x + 1, 1) +
                      image.at(2 * y + 1, 2 * x, 1) + image.at(2 * y + 1, 2 * x + 1, 1);
      EXPECT_NEAR(half.at(y, x, 1), sum / 4.0, 0.51);
    }
  // Three pixels to two: the middle one counts half for each.
  Image three = make_image(1, 3, 1);
  three.pixels = {0, 90, 240};
  EXPECT_EQ(resize(three, 1, 2).pixels, (std::vector<uint8_t>{30, 190}));
  EXPECT_EQ(resize(three, 1, 1).pixels, (std::vector<uint8_t>{110}));
}

TEST(Resize, GrowingLiesBetweenTheNeighbours) {
  Image two = make_image(1, 2, 1);
  two.pixels = {0, 100};
  EXPECT_EQ(resize(two, 1, 4).pixels, (std::vector<uint8_t>{0, 25, 75, 100}));
  EXPECT_EQ(resize(make_image(1, 1, 3, 9), 4, 4).pixels, std::vector<uint8_t>(48, 9));
}

TEST(Resize, OneWayAndTheOther) {
  const Image image = resize(ramp(4, 100), 8, 10);
  EXPECT_EQ(image.height, 8);
  EXPECT_EQ(image.width, 10);
  EXPECT_EQ(image.pixels.size(), 240u);
}

TEST(Resize, CroppingKeepsTheMiddleInItsShape) {
  const Image image = resize_and_crop(ramp(4, 8), 4, 4);
  EXPECT_EQ(image.at(0, 0, 0), ramp(4, 8).at(0, 2, 0));
  EXPECT_EQ(image.at(3, 3, 2), ramp(4, 8).at(3, 5, 2));
  EXPECT_EQ(resize_and_crop(ramp(1, 1), 8, 3).pixels.size(), 72u);
  EXPECT_EQ(fit_image(ramp(4, 8), 4, 4, "crop").pixels, image.pixels);
  EXPECT_EQ(fit_image(ramp(4, 8), 4, 4, "stretch").pixels, resize(ramp(4, 8), 4, 4).pixels);
}

TEST(Resize, WhatACropLeavesOutIsCounted) {
  EXPECT_EQ(pixels_left_out(ramp(6, 10), 3, 3, "crop"), 24);
  EXPECT_EQ(pixels_left_out(ramp(10, 6), 3, 3, "crop"), 24);
  EXPECT_EQ(pixels_left_out(ramp(6, 6), 3, 3, "crop"), 0);
  for (const char* fit : {"stretch", "letterbox"})
    EXPECT_EQ(pixels_left_out(ramp(6, 10), 3, 3, fit), 0) << fit;
}

TEST(Resize, NothingCannotBecomeSomething) {
  expect_error(ErrorKind::InvalidArgument, "cannot become", [] { resize(Image{}, 4, 4); });
  expect_error(ErrorKind::InvalidArgument, "cannot become", [] { resize(ramp(2, 2), 0, 4); });
  expect_error(ErrorKind::InvalidArgument, {"'bend'", "stretch"},
               [] { fit_image(ramp(2, 2), 4, 4, "bend"); });
}

TEST(Image, TensorsAndBack) {
  const Image image = ramp(3, 4);
  const at::Tensor pixels = tensor_of(image);
  EXPECT_EQ(pixels.sizes(), (std::vector<int64_t>{3, 3, 4}));
  EXPECT_EQ(pixels.data_ptr<uint8_t>()[1 * 12 + 2 * 4 + 3], image.at(2, 3, 1));
  EXPECT_EQ(image_of(pixels).pixels, image.pixels);
}

/// One row of grey pixels.
Image line(const std::vector<uint8_t>& values) {
  Image image = make_image(1, int64_t(values.size()), 1);
  image.pixels = values;
  return image;
}

// By hand, from the weights' formulas.
TEST(Resize, FiltersAreThoseOfPil) {
  const Image four = line({0, 100, 200, 40});
  EXPECT_EQ(resize(four, 1, 2, "nearest").pixels, (std::vector<uint8_t>{100, 40}));
  // A triangle of 2 old pixels to each side of 1: 3/4, 3/4, 1/4 of the first three, and so on.
  EXPECT_EQ(resize(four, 1, 2, "bilinear").pixels,
            (std::vector<uint8_t>{uint8_t(std::lround((75.0 + 50) / 1.75)),
                                  uint8_t(std::lround((25.0 + 150 + 30) / 1.75))}));
  // Twice as many of 8 and 16: places 1/4 and 3/4 between them.
  EXPECT_EQ(resize(line({8, 16}), 1, 4, "bilinear").pixels, (std::vector<uint8_t>{8, 10, 14, 16}));
  // A cubic at the distances 1/4 and 5/4 of the bright ones: .8671875 and -.0703125.
  EXPECT_EQ(resize(line({0, 0, 80, 80, 80}), 1, 10, "bicubic").pixels[4], 64);
  for (const std::string& name : filter_names()) {
    EXPECT_EQ(resize(line({7, 7, 7, 7, 7}), 1, 3, name).pixels, (std::vector<uint8_t>{7, 7, 7}));
    EXPECT_EQ(resize(line({7, 7}), 1, 5, name).pixels, (std::vector<uint8_t>{7, 7, 7, 7, 7}));
    EXPECT_EQ(fit_image(ramp(9, 5), 4, 4, "letterbox", name).pixels.size(), 48u);
  }
  expect_error(ErrorKind::InvalidArgument, "known: area", [&] { resize(four, 1, 2, "sharp"); });
}

}  // namespace
}  // namespace fovea::resize_test
