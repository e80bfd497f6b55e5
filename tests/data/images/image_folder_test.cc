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
  SplitImages read(int64_t side = 0, bool whole = false) const {
    ImageFolderOptions options;
    options.side = side;
    options.reading.channels = 1;
    return read_image_folder({folder.path(), {}, whole}, options);
  }
  TemporaryFolder folder;
};

TEST_F(ImageFolder, TheFolderOfAPictureIsItsClass) {
  write("dog/b.png", 4, 6, 20);
  write("dog/a.PNG", 4, 6, 10);
  write("cat/1.png", 4, 6, 30);
  folder.write("dog/notes.txt", "no picture");
  EXPECT_TRUE(holds_image_folders(folder.path()));
  const LabelledImages train = read().parts[kTrain];
  EXPECT_EQ(train.labels, (std::vector<std::string>{"cat", "dog", "dog"}));
  EXPECT_EQ(train.pixels.sizes(), at::IntArrayRef({3, 1, 4, 6}));
  EXPECT_EQ(train.pixels[1][0][0][0].item<int>(), 10) << "in the order of the names";
  EXPECT_EQ(read(0, /*whole=*/true).parts[kTest].size(), 3);
}

TEST_F(ImageFolder, PartsAreFoldersToo) {
  write("train/cat/1.png", 4, 4, 1);
  write("valid/cat/1.png", 4, 4, 2);
  write("test/dog/1.png", 4, 4, 3);
  const SplitImages parts = read();
  for (const int part : {kTrain, kValidation, kTest})
    EXPECT_EQ(parts.parts[size_t(part)].pixels[0][0][0][0].item<int>(), part + 1);
  EXPECT_EQ(parts.parts[kTest].labels[0], "dog");
}

TEST_F(ImageFolder, AllBecomeOneSize) {
  write("cat/1.png", 4, 6, 9);
  write("cat/2.png", 9, 3, 9);
  EXPECT_EQ(read(5).parts[kTrain].pixels.sizes(), at::IntArrayRef({2, 1, 5, 5}));
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
