#include "fovea/explain/draw/png_canvas.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/picture.h"
#include "tests/explain/samples.h"
#include "tests/support/temporary_folder.h"

namespace fovea::png_canvas_test {
namespace {

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Builds without cairo must say so; builds with it must draw.
bool can_write_png() {
  try {
    make_png_canvas(10, 10);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("FOVEA_WITH_CAIRO"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(".svg"), std::string::npos);
    return false;
  }
}

TEST(PngCanvas, APolygonBeginsAnewBehindAText) {
  if (!can_write_png()) GTEST_SKIP() << "built without cairo";
  const testing::TemporaryFolder folder;
  const auto drawn = [&](bool text_first) {
    const auto canvas = make_png_canvas(120, 40);
    const auto write = [&] { canvas->text({5, 12}, "text", {12, palette::kInk}); };
    if (text_first) write();
    canvas->polygon({{100, 30}, {104, 37}, {96, 37}}, palette::kInk);
    if (!text_first) write();
    canvas->save(folder.path() / "x.png");
    return read_file(folder.path() / "x.png");
  };
  EXPECT_TRUE(drawn(true) == drawn(false));
}

TEST(PngCanvas, WritesAPngOfTheRightSize) {
  if (!can_write_png()) GTEST_SKIP() << "built without cairo";
  const testing::TemporaryFolder folder;
  const auto canvas = make_png_canvas(120, 45.5);
  canvas->fill({0, 0, 120, 45.5}, palette::kWeight);
  canvas->line({0, 0}, {10, 10}, palette::kInk, 1);
  canvas->polygon({{0, 0}, {5, 0}, {5, 5}}, palette::kInk);
  canvas->text({60, 20}, "bad\xFF \x1b", {12, palette::kInk, Anchor::Middle, false, 30});
  canvas->save(folder.path() / "x.png");
  const std::string bytes = read_file(folder.path() / "x.png");
  ASSERT_GT(bytes.size(), 33u);
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(big_endian(bytes, 16), 240u);
  EXPECT_EQ(big_endian(bytes, 20), 91u);
}

TEST(PngCanvas, EverySampleCanBeWritten) {
  if (!can_write_png()) GTEST_SKIP() << "built without cairo";
  const testing::TemporaryFolder folder;
  for (const Explanation& sample : {sample_features(), sample_contexts(), sample_matrix(),
                                    sample_odd(), sample_arabic(), sample_chinese()}) {
    const auto path = folder.path() / (sample.task + ".png");
    write_picture(sample, path);
    EXPECT_GT(std::filesystem::file_size(path), 5000u) << sample.task;
  }
}

TEST(PngCanvas, AFailedWriteLeavesNothingBehind) {
  if (!can_write_png()) GTEST_SKIP() << "built without cairo";
  const testing::TemporaryFolder folder;
  EXPECT_THROW(make_png_canvas(10, 10)->save(folder.path() / "missing" / "x.png"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PngCanvas, TooLargeIsUnsupported) {
  if (!can_write_png()) GTEST_SKIP() << "built without cairo";
  try {
    make_png_canvas(1e6, 10);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
  }
}

}  // namespace
}  // namespace fovea::png_canvas_test
