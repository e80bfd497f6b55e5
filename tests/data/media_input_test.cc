#include "fovea/data/media_input.h"

#include <gtest/gtest.h>

#include "fovea/base/base64.h"
#include "tests/support/expect_error.h"

namespace fovea::media_input_test {
namespace {

using testing::expect_error;

void refused(const std::vector<std::string>& words, const std::string& line) {
  expect_error(ErrorKind::BadData, words, [&] { image_of_input(line, {}); });
}

TEST(ImageInput, ADataUrlIsAPicture) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  const Image image = make_image(2, 3, 3, 40);
  const Json input = image_input(encode_png(image));
  EXPECT_EQ(image_of_input(input.dump(), {}).pixels, image.pixels);
  const std::string url = input["image"];
  EXPECT_EQ(image_of_input(url, {}).pixels, image.pixels);
  const std::string named = "data:image/png;name=a.png;base64," + base64_encode(encode_png(image));
  EXPECT_EQ(image_of_input(named, {}).pixels, image.pixels);
}

TEST(ImageInput, WhatIsNoneIsRefused) {
  refused({"data:image/png;base64"}, "{\"image\": \"/etc/passwd\"}");
  refused({"data:image/png;base64"}, "photo.png");
  refused({"data:image/png;base64"}, "");
  refused({"{\"image\""}, "{\"picture\": 1}");
  refused({"{\"image\""}, "{\"image\": 7}");
  refused({"not base64"}, "{\"image\": \"data:image/png;base64,!!!!\"}");
  refused({"is no picture"}, "data:image/png;base64," + base64_encode("hello"));
  refused({"is empty"}, "data:image/png;base64,");
  ReadImageOptions small;
  small.largest_file = 3;
  expect_error(ErrorKind::BadData, "more than 3 bytes",
               [&] { image_of_input("data:;base64,AAAAAAAAAAAA", small); });
}

}  // namespace
}  // namespace fovea::media_input_test
