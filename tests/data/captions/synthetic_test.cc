#include "fovea/data/captions/synthetic.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/expect_error.h"

namespace fovea::captions::synthetic_test {
namespace {

using testing::expect_error;

SyntheticCaptionsOptions options_of(int64_t rows) {
  SyntheticCaptionsOptions options;
  options.rows = options.validation_rows = options.test_rows = rows;
  options.objects = 3;
  return options;
}

/// "red circle" and the like.
std::set<std::string> things_of(const CaptionedImage& scene) {
  std::set<std::string> things;
  for (const CaptionBox& box : scene.boxes)
    things.insert(scene.captions[0].substr(size_t(box.begin), size_t(box.end - box.begin)));
  return things;
}

TEST(SyntheticCaptions, EveryTestPictureShowsAPairThatNoOtherSplitHas) {
  const SplitRows<CaptionedImage> draw = draw_captions(options_of(600), 32);
  std::set<std::string> trained, validated;
  for (const CaptionedImage& scene : draw.train) trained.merge(things_of(scene));
  EXPECT_EQ(trained.size(), 80u) << "of all hundred pairs";
  for (const CaptionedImage& scene : draw.validation) {
    size_t fresh = 0;
    for (const std::string& thing : things_of(scene)) {
      fresh += !trained.contains(thing);
      validated.insert(thing);
    }
    EXPECT_GE(fresh, 1u) << scene.captions[0];
  }
  for (const CaptionedImage& scene : draw.test) {
    size_t fresh = 0;
    for (const std::string& thing : things_of(scene))
      fresh += !trained.contains(thing) && !validated.contains(thing);
    EXPECT_GE(fresh, 1u) << scene.captions[0];
  }
}

TEST(SyntheticCaptions, TheSentenceIsTrueOfTheBoxes) {
  for (const CaptionedImage& scene : draw_captions(options_of(200), 48).train) {
    for (size_t i = 0; i + 1 < scene.boxes.size(); ++i) {
      const CaptionBox &one = scene.boxes[i], &next = scene.boxes[i + 1];
      const std::string between =
          scene.captions[0].substr(size_t(one.end), size_t(next.begin - one.end));
      const double across = (one.left + one.right - next.left - next.right) / 2,
                   along = (one.top + one.bottom - next.top - next.bottom) / 2;
      const bool beside = std::abs(across) > std::abs(along);
      const std::string side = beside ? (across < 0 ? " left of a" : " right of a")
                                      : (along < 0 ? " above a" : " below a");
      EXPECT_TRUE(between.starts_with(side)) << scene.captions[0];
      EXPECT_GT(one.right - one.left, next.right - next.left) << "the larger one is named first";
    }
    for (const CaptionBox& box : scene.boxes) {
      EXPECT_GE(box.left, 0);
      EXPECT_LE(box.bottom, 1);
    }
  }
}

TEST(SyntheticCaptions, ThePictureShowsTheColourInTheBox) {
  const std::map<std::string, std::array<int, 3>> colours{
      {"red", {210, 30, 35}},     {"orange", {245, 135, 25}}, {"yellow", {240, 220, 45}},
      {"green", {45, 150, 60}},   {"cyan", {60, 205, 215}},   {"blue", {35, 65, 200}},
      {"purple", {130, 45, 165}}, {"pink", {245, 150, 190}},  {"brown", {125, 75, 40}},
      {"black", {40, 40, 45}}};
  for (const CaptionedImage& scene : draw_captions(options_of(60), 64).test)
    for (const CaptionBox& box : scene.boxes) {
      const std::string thing =
          scene.captions[0].substr(size_t(box.begin), size_t(box.end - box.begin));
      const auto& light = colours.at(thing.substr(0, thing.find(' ')));
      int near = 0, far = 0;  // pixels of that colour inside and outside of the box
      for (int64_t y = 0; y < 64; ++y)
        for (int64_t x = 0; x < 64; ++x) {
          int difference = 0;
          for (int64_t channel = 0; channel < 3; ++channel)
            difference += std::abs(scene.drawn.at(y, x, channel) - light[size_t(channel)]);
          const double px = (double(x) + 0.5) / 64, py = (double(y) + 0.5) / 64;
          const bool inside = px > box.left && px < box.right && py > box.top && py < box.bottom;
          (inside ? near : far) += difference < 60;
        }
      EXPECT_GT(near, 8) << thing;
      EXPECT_TRUE(scene.boxes.size() > 1 || far == 0) << thing << " " << far;
    }
}

TEST(SyntheticCaptions, TheSeedAloneDecides) {
  SyntheticCaptionsOptions options = options_of(5);
  const SplitRows<CaptionedImage> one = draw_captions(options, 32),
                                  same = draw_captions(options, 32);
  EXPECT_EQ(one.train[3].drawn.pixels, same.train[3].drawn.pixels);
  options.seed = 2;
  EXPECT_NE(one.train[3].drawn.pixels, draw_captions(options, 32).train[3].drawn.pixels);
  options = options_of(5);
  options.rows = 9;
  EXPECT_EQ(one.test[4].captions, draw_captions(options, 32).test[4].captions)
      << "more training pictures leave the others as they are";
}

TEST(SyntheticCaptions, WhatCannotBeDrawnIsRefused) {
  SyntheticCaptionsOptions many = options_of(2);
  many.objects = 4;
  expect_error(ErrorKind::InvalidArgument, "1 to 3", [&] { draw_captions(many, 64); });
  expect_error(ErrorKind::InvalidArgument, "data.image_size=8",
               [&] { draw_captions(options_of(2), 8); });
}

}  // namespace
}  // namespace fovea::captions::synthetic_test
