#include "fovea/data/formats/read_image.h"

#include <gtest/gtest.h>

#include "tests/data/formats/jpeg_file.h"
#include "tests/data/formats/png_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::read_image_test {
namespace {

using namespace testing;  // png_file.h, jpeg_file.h

using Words = std::vector<std::string>;

class ReadImage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  }
};

/// 5 x 3 pixels, all different.
Image sample() {
  Image image = make_image(3, 5, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = uint8_t(5 * i + 3);
  return image;
}

std::string bytes_of(const Image& image) {
  return {image.pixels.begin(), image.pixels.end()};
}

PngFile png_of(const Image& image) {
  PngFile file{uint32_t(image.width), uint32_t(image.height)};
  file.pixels = rows_of(bytes_of(image), size_t(image.width * 3));
  return file;
}

void refused(ErrorKind kind, const Words& words, const std::string& bytes,
             const ReadImageOptions& options = {}) {
  expect_error(kind, words, [&] { decode_image(bytes, "a.png", options); });
}

TEST_F(ReadImage, PngComesBack) {
  const Image image = sample();
  EXPECT_EQ(decode_image(png_of(image).bytes(), "a").pixels, image.pixels);
  const Image again = decode_image(encode_png(image), "a");
  EXPECT_EQ(again.pixels, image.pixels);
  EXPECT_EQ(again.width, 5);
  EXPECT_EQ(again.height, 3);
  Image grey = make_image(4, 2, 1);
  grey.at(3, 1, 0) = 200;
  ReadImageOptions one;
  one.channels = 1;
  EXPECT_EQ(decode_image(encode_png(grey), "a", one).pixels, grey.pixels);
}

TEST_F(ReadImage, InterlacedEqualsPlain) {
  Image image = make_image(11, 13, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = uint8_t(7 * i);
  PngFile file = png_of(image);
  file.interlaced = true;
  file.pixels = interlaced_rows(bytes_of(image), 13, 11, 3);
  EXPECT_EQ(decode_image(file.bytes(), "a").pixels, image.pixels);
}

TEST_F(ReadImage, EveryColourTypeAndDepth) {
  PngFile grey{2, 1, 8, 0};
  grey.pixels = std::string("\0\x10\xf0", 3);
  EXPECT_EQ(decode_image(grey.bytes(), "a").pixels,
            (std::vector<uint8_t>{16, 16, 16, 240, 240, 240}));
  PngFile bits{8, 1, 1, 0};
  bits.pixels = std::string("\0\xa5", 2);
  EXPECT_EQ(decode_image(bits.bytes(), "a").at(0, 0, 0), 255);
  EXPECT_EQ(decode_image(bits.bytes(), "a").at(0, 1, 0), 0);
  PngFile sixteen{1, 1, 16, 2};
  sixteen.pixels = std::string("\0\x40\x00\x80\x00\xff\xff", 7);
  const Image deep = decode_image(sixteen.bytes(), "a");
  EXPECT_NEAR(deep.at(0, 0, 0), 0x40, 1);
  EXPECT_NEAR(deep.at(0, 0, 1), 0x80, 1);
  EXPECT_EQ(deep.at(0, 0, 2), 255);
  PngFile palette{2, 1, 8, 3};
  palette.before_pixels = png_chunk("PLTE", std::string("\x01\x02\x03\xc8\xc9\xca", 6));
  palette.pixels = std::string("\0\x01\x00", 3);
  EXPECT_EQ(decode_image(palette.bytes(), "a").pixels,
            (std::vector<uint8_t>{200, 201, 202, 1, 2, 3}));
}

TEST_F(ReadImage, WhatIsSeeThroughLiesOnTheBackground) {
  PngFile file{3, 1, 8, 6};
  file.pixels = std::string("\0\xff\x00\x00\x00\x0a\x14\x1e\xff\x00\x00\x00\x80", 13);
  const Image white = decode_image(file.bytes(), "a");
  EXPECT_EQ(white.at(0, 0, 1), 255) << "all see-through: the background";
  EXPECT_EQ(white.at(0, 1, 2), 0x1e) << "nothing see-through: itself";
  EXPECT_GT(white.at(0, 2, 0), 100);
  EXPECT_LT(white.at(0, 2, 0), 220);
  ReadImageOptions dark;
  dark.background = 0;
  EXPECT_EQ(decode_image(file.bytes(), "a", dark).at(0, 0, 0), 0);
  PngFile grey{1, 1, 8, 4};
  grey.pixels = std::string("\0\x07\x00", 3);
  EXPECT_EQ(decode_image(grey.bytes(), "a").pixels, (std::vector<uint8_t>{255, 255, 255}));
}

TEST_F(ReadImage, OneByOneIsAPicture) {
  PngFile file;
  file.pixels = std::string("\0\x01\x02\x03", 4);
  EXPECT_EQ(decode_image(file.bytes(), "a").pixels, (std::vector<uint8_t>{1, 2, 3}));
  const Image dot = make_image(1, 1, 3, 77);
  EXPECT_NEAR(decode_image(make_jpeg(dot), "a").pixels[1], 77, 2);
}

TEST_F(ReadImage, OfAnAnimationTheFirstPicture) {
  PngFile file = png_of(sample());
  EXPECT_FALSE(decode_image(file.bytes(), "a").animated);
  file.before_pixels = png_chunk("acTL", big_endian(2) + big_endian(0));
  const Image image = decode_image(file.bytes(), "a");
  EXPECT_TRUE(image.animated);
  EXPECT_EQ(image.pixels, sample().pixels);
}

TEST_F(ReadImage, JpegIsNear) {
  Image image = make_image(16, 24, 3, 90);
  for (int64_t y = 0; y < 16; ++y)
    for (int64_t x = 0; x < 24; ++x) image.at(y, x, 0) = uint8_t(10 * x);
  for (const bool progressive : {false, true}) {
    const Image read = decode_image(make_jpeg(image, {progressive}), "a");
    ASSERT_EQ(read.pixels.size(), image.pixels.size());
    for (size_t i = 0; i < image.pixels.size(); ++i)
      ASSERT_NEAR(read.pixels[i], image.pixels[i], 14) << i;
  }
  ReadImageOptions one;
  one.channels = 1;
  const Image grey = decode_image(make_jpeg(make_image(8, 8, 3, 90)), "a", one);
  EXPECT_EQ(grey.channels, 1);
  EXPECT_NEAR(grey.pixels[9], 90, 2);
  EXPECT_NEAR(decode_image(make_jpeg(make_image(8, 8, 1, 40)), "a").at(3, 3, 2), 40, 2);
}

TEST_F(ReadImage, InksBecomeLight) {
  Image inks = make_image(8, 8, 4, 0);
  for (int64_t place = 0; place < 64; ++place) inks.pixels[size_t(4 * place)] = 255;  // cyan alone
  const Image plain = decode_image(make_jpeg(inks, {false, true, false}), "a");
  EXPECT_NEAR(plain.at(2, 2, 0), 0, 3);
  EXPECT_NEAR(plain.at(2, 2, 1), 255, 3);
  EXPECT_NEAR(plain.at(2, 2, 2), 255, 3);
  for (uint8_t& ink : inks.pixels) ink = uint8_t(255 - ink);
  const Image adobe = decode_image(make_jpeg(inks, {false, true, true}), "a");
  EXPECT_NEAR(adobe.at(2, 2, 0), 0, 3) << "Adobe's inks are inverted";
  EXPECT_NEAR(adobe.at(2, 2, 1), 255, 3);
  ReadImageOptions one;
  one.channels = 1;
  EXPECT_NEAR(decode_image(make_jpeg(inks, {false, true, true}), "a", one).at(2, 2, 0), 179, 3);
}

TEST_F(ReadImage, TheCamerasTurnIsUndone) {
  Image image = make_image(8, 16, 3, 20);  // bright in its top left quarter
  for (int64_t y = 0; y < 4; ++y)
    for (int64_t x = 0; x < 8; ++x)
      for (int64_t channel = 0; channel < 3; ++channel) image.at(y, x, channel) = 230;
  struct Corner {
    int orientation;
    bool below, right;
  };
  for (const Corner& one : {Corner{1, false, false},
                            {2, false, true},
                            {3, true, true},
                            {4, true, false},
                            {5, false, false},
                            {6, false, true},
                            {7, true, true},
                            {8, true, false}}) {
    SCOPED_TRACE(one.orientation);
    JpegFile file;
    file.orientation = one.orientation;
    const Image read = decode_image(make_jpeg(image, file), "a");
    const bool lies = one.orientation >= 5;
    ASSERT_EQ(read.height, lies ? 16 : 8);
    ASSERT_EQ(read.width, lies ? 8 : 16);
    for (const bool below : {false, true})
      for (const bool right : {false, true}) {
        const int64_t y = below ? read.height - 2 : 1, x = right ? read.width - 2 : 1;
        EXPECT_NEAR(read.at(y, x, 0), below == one.below && right == one.right ? 230 : 20, 10);
      }
  }
}

TEST_F(ReadImage, SizesAreCheckedBeforeAnythingIsAllocated) {
  PngFile huge{30000, 30000};
  huge.pixels = "\0";
  refused(ErrorKind::BadData, {"a.png", "30,000 x 30,000", "900,000,000", "data.largest_image"},
          huge.bytes());
  PngFile widest{0x7fffffff, 0x7fffffff};
  refused(ErrorKind::BadData, {"a.png"}, widest.bytes());
  std::string jpeg = make_jpeg(make_image(8, 8, 3));
  const size_t frame = jpeg.find("\xff\xc0");
  jpeg.replace(frame + 5, 4, "\x75\x30\x75\x30");
  refused(ErrorKind::BadData, {"30,000 x 30,000"}, jpeg);
  ReadImageOptions small;
  small.largest_image = 14;
  refused(ErrorKind::BadData, {"5 x 3", "15", "at most 14"}, png_of(sample()).bytes(), small);
  small.largest_image = 15;
  EXPECT_EQ(decode_image(png_of(sample()).bytes(), "a", small).width, 5);
}

TEST_F(ReadImage, WhatIsNoPictureIsRefused) {
  PngFile empty{0, 0};
  refused(ErrorKind::BadData, {"a.png", "PNG"}, empty.bytes());
  refused(ErrorKind::BadData, {"a.png", "is no picture", "'hello there.'"}, "hello there\n");
  refused(ErrorKind::BadData, {"a.png", "is empty"}, "");
  refused(ErrorKind::Unsupported, {"GIF"}, "GIF89a......");
  refused(ErrorKind::Unsupported, {"TIFF"}, std::string("II*\0....", 8));
  expect_error(ErrorKind::NotFound, "no such file", [] { read_image("/nowhere/a.png"); });
  const TemporaryFolder folder;
  expect_error(ErrorKind::BadData, "is no file", [&] { read_image(folder.path()); });
  ReadImageOptions small;
  small.largest_file = 10;
  expect_error(ErrorKind::BadData, {"bytes", "at most 10"},
               [&] { read_image(folder.write("a.png", encode_png(sample())), small); });
}

TEST_F(ReadImage, TheContentDecidesNotTheName) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_image(folder.write("a.jpg", encode_png(sample()))).pixels, sample().pixels);
  EXPECT_EQ(read_image(folder.write("a.png", make_jpeg(sample()))).width, 5);
}

// Every beginning of a file, and every file with one byte changed, is read or refused; nothing else
// happens.
TEST_F(ReadImage, DamagedFilesAreRefusedOrRead) {
  Image image = make_image(24, 24, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = uint8_t(i * i);
  for (const std::string& whole : {encode_png(image), make_jpeg(image), make_jpeg(image, {true})}) {
    // Of a PNG file the last 16 bytes end it and say nothing of the pixels.
    for (size_t size = 0; size + 16 < whole.size(); size += 7)
      EXPECT_THROW(decode_image(whole.substr(0, size), "a"), Error) << size;
    for (size_t at = 0; at < whole.size(); at += 3) {
      std::string changed = whole;
      changed[at] = char(changed[at] ^ 0x55);
      try {
        decode_image(changed, "a");
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace fovea::read_image_test
