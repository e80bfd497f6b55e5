#include "fovea/data/images/image_folder.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea {
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
    ImageFolderOptions options;
    options.side = side;
    options.reading.channels = 1;
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
  EXPECT_EQ(read(0, /*whole=*/true).test.size(), 3u);
}

TEST_F(ImageFolder, SplitsAreFoldersToo) {
  write("train/cat/1.png", 4, 4, 1);
  write("valid/cat/1.png", 4, 4, 2);
  write("test/dog/1.png", 4, 4, 3);
  const SplitRows<LabelledImage> splits = read();
  for (const int split : {kTrain, kValidation, kTest})
    EXPECT_EQ(splits[split].at(0).pixels[0][0][0].item<int>(), split + 1);
  EXPECT_EQ(splits.test[0].label, "dog");
}

TEST_F(ImageFolder, AllBecomeOneSize) {
  write("cat/1.png", 4, 6, 9);
  write("cat/2.png", 9, 3, 9);
  for (const LabelledImage& image : read(5).train)
    EXPECT_EQ(image.pixels.sizes(), at::IntArrayRef({1, 5, 5}));
  EXPECT_EQ(read(5).train.size(), 2u);
  expect_error(ErrorKind::BadData, {"2.png", "9 x 3", "data.image_size"}, [&] { read(); });
}

TEST_F(ImageFolder, ABrokenPictureIsNamed) {
  write("cat/1.png", 4, 4, 9);
  folder.write("cat/2.png", "this is a text");
  expect_error(ErrorKind::BadData, "2.png", [&] { read(); });
}

TEST_F(ImageFolder, NoPicturesAreNoData) {
  EXPECT_FALSE(holds_image_folders(folder.path()));
  expect_error(ErrorKind::NotFound, "holds no pictures", [&] { read(); });
}

}  // namespace
}  // namespace fovea
