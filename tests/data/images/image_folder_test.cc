#include "fovea/data/images/image_folder.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::image_folder_test {
namespace {

namespace fs = std::filesystem;

class ImageFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
  }
  void write(const std::string& name, int64_t height, int64_t width, uint8_t value) const {
    fs::create_directories((folder / name).parent_path());
    folder.write(name, encode_png(make_image(height, width, 1, value)));
  }
  SplitRows<LabelledImage> read(int64_t side = 0, bool whole = false) const {
    ImageFileOptions options;
    options.side = side;
    return read_image_folder({folder.path(), {}, whole}, {.fraction = 0, .needs_training = false},
                             options);
  }
  TemporaryFolder folder;
};

TEST_F(ImageFolder, TheFolderOfAPictureIsItsClass) {
  write("dog/b.png", 4, 6, 20);
  write("dog/a.PNG", 4, 6, 10);
  write("cat/1.png", 4, 6, 30);
  folder.write("dog/notes.txt", "no picture");
  EXPECT_TRUE(holds_image_folders(folder.path()));
  const std::vector<LabelledImage> train = read().train;
  ASSERT_EQ(train.size(), 3u);
  EXPECT_EQ(train[0].label, "cat");
  EXPECT_EQ(train[1].label, "dog");
  EXPECT_EQ(train[2].label, "dog");
  EXPECT_EQ(train[2].pixels.sizes(), at::IntArrayRef({1, 4, 6}));
  EXPECT_EQ(train[1].pixels[0][0][0].item<int>(), 10) << "in the order of the names";
  EXPECT_EQ(read(0, /*whole=*/true).test.size(), 3);
}

TEST_F(ImageFolder, SplitsAreFoldersToo) {
  write("train/cat/1.png", 4, 4, 1);
  write("valid/cat/1.png", 4, 4, 2);
  write("test/dog/1.png", 4, 4, 3);
  const SplitRows<LabelledImage> splits = read();
  for (const int split : {kTrain, kValidation, kTest})
    EXPECT_EQ(splits[split][0].pixels[0][0][0].item<int>(), split + 1);
  EXPECT_EQ(splits.test[0].label, "dog");
}

TEST_F(ImageFolder, AllBecomeOneSize) {
  write("cat/1.png", 4, 6, 9);
  write("cat/2.png", 9, 3, 9);
  for (const LabelledImage& image : read(5).train)
    EXPECT_EQ(image.pixels.sizes(), at::IntArrayRef({1, 5, 5}));
  EXPECT_EQ(read(5).train.size(), 2);
  const SplitRows<LabelledImage> by_themselves = read();
  for (const LabelledImage& image : by_themselves.train)
    EXPECT_EQ(image.pixels.sizes(), at::IntArrayRef({1, 9, 9})) << "the middle of the longer sides";
  EXPECT_TRUE(has_note(by_themselves.notes, "several sizes become 9 x 9"));
  write("cat/1.png", 400, 300, 9);
  EXPECT_EQ(read().train[0].pixels.size(1), ImageFileOptions::kLargestSide);
}

TEST_F(ImageFolder, ColoursStayWhereThereAreAny) {
  write("cat/1.png", 4, 4, 9);
  write("dog/1.png", 4, 4, 200);
  EXPECT_EQ(read().train[0].pixels.size(0), 1);
  Image red = make_image(4, 4, 3, 9);
  red.at(1, 1, 0) = 255;
  folder.write("dog/2.png", encode_png(red));
  EXPECT_EQ(read().train[0].pixels.size(0), 3);
}

TEST_F(ImageFolder, ATableNamesPicturesAndLabels) {
  write("png/1.png", 4, 4, 9);
  write("png/2.png", 8, 4, 9);
  folder.write("labels.csv", "file,class,split\npng/1.png,a,train\npng/2.png,b,val\n,b,val\n");
  const SplitRows<LabelledImage> rows =
      read_image_table({folder / "labels.csv", {}}, {.fraction = 0}, {});
  ASSERT_EQ(rows.train.size(), 1);
  ASSERT_EQ(rows.validation.size(), 1);
  EXPECT_EQ(rows.validation[0].label, "b");
  EXPECT_TRUE(has_note(rows.notes, "1 rows without picture or label"));
}

TEST_F(ImageFolder, ABrokenPictureIsNamed) {
  write("cat/1.png", 4, 4, 9);
  folder.write("cat/2.png", "this is a text");
  expect_error(ErrorKind::BadData, {"2.png", "1 of 2 files", "data.max_bad_share"},
               [&] { read(); });
  for (int i = 3; i < 40; ++i) write(concat("cat/", i, ".png"), 4, 4, 9);
  const SplitRows<LabelledImage> rows = read();
  EXPECT_EQ(rows.train.size(), 38);
  EXPECT_TRUE(has_note(rows.notes, "1 of 39 files cannot be read and are left out"));
  EXPECT_TRUE(has_note(rows.notes, "2.png: is no picture"));
}

TEST_F(ImageFolder, NoPicturesAreNoData) {
  EXPECT_FALSE(holds_image_folders(folder.path()));
  expect_error(ErrorKind::NotFound, "holds no pictures", [&] { read(); });
}

}  // namespace
}  // namespace fovea::image_folder_test
