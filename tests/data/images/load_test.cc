#include "fovea/data/images/load.h"

#include <gtest/gtest.h>

#include "fovea/data/formats/idx.h"
#include "fovea/data/formats/read_image.h"
#include "fovea/tensor/torch.h"
#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::images::load_test {
namespace {

namespace fs = std::filesystem;

const MakePictureEncoder kTwoGlimpses = [](const PictureShape& shape) {
  return PictureEncoder{shape, 2};
};

ImageDataOptions small() {
  ImageDataOptions options;
  options.generator.rows = 40;
  options.generator.validation_rows = 10;
  options.generator.test_rows = 5;
  options.generator.side = 12;
  return options;
}

TEST(ImagesData, TheFolderThatIsWrittenGivesTheSameRows) {
  TemporaryFolder folder;
  for (const char* view : {"plain", "cluttered"}) {
    ImageDataOptions options = small();
    options.views.view = view;
    options.views.canvas = 20;
    write_image_data(folder.path(), options);
    ImageCoding drawn_coding, read_coding;
    const Splits drawn = load_images({}, options, drawn_coding, kTwoGlimpses, 3);
    const Splits read = load_images({folder.path(), {}}, options, read_coding, kTwoGlimpses, 3);
    EXPECT_EQ(drawn_coding.classes, read_coding.classes);
    expect_same_splits(drawn, read);
    EXPECT_TRUE(read.train->has_truth());
  }
}

TEST(ImagesData, ValidationIsHeldOutWhereThereIsNone) {
  TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", idx_bytes(torch::zeros({20, 5, 5}, torch::kByte)));
  folder.write("train-labels-idx1-ubyte", idx_bytes((torch::arange(20) % 12).to(torch::kByte)));
  ImageCoding coding;
  const Splits splits = load_images({folder.path(), {}}, small(), coding, kTwoGlimpses, 3);
  EXPECT_EQ(splits.train->size(), 18);
  EXPECT_EQ(splits.validation->size(), 2);
  EXPECT_EQ(splits.test, nullptr);
  EXPECT_TRUE(has_note(splits.notes, "2 of the 20 pictures"));
  EXPECT_EQ(coding.classes[2], "2") << "numbers by value: 10 comes after 9";
  EXPECT_EQ(coding.classes.back(), "11");
  EXPECT_FALSE(splits.train->has_truth());
}

TEST(ImagesData, AFolderOfPicturesIsReadToo) {
  if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
  TemporaryFolder folder;
  for (const char* label : {"cat", "dog"}) {
    fs::create_directories(folder / label);
    for (const char* name : {"1.png", "2.png", "3.png"})
      folder.write(concat(label, "/", name), encode_png(make_image(7, 9, 3, 80)));
  }
  ImageDataOptions options = small();
  options.files.side = 6;
  options.files.colours = "colour";
  ImageCoding coding;
  const Splits splits = load_images({folder.path(), {}}, options, coding, kTwoGlimpses, 3);
  EXPECT_EQ(coding.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(coding.shape, (PictureShape{3, 6, 6}));
  EXPECT_EQ(splits.train->size() + splits.validation->size(), 6);
}

TEST(ImagesData, ARunKnowsItsClassesAndItsSize) {
  TemporaryFolder folder;
  ImageCoding coding;
  load_images({}, small(), coding, kTwoGlimpses, 3);
  folder.write("test-images-idx3-ubyte", idx_bytes(torch::zeros({2, 12, 12}, torch::kByte)));
  folder.write("test-labels-idx1-ubyte", idx_bytes(torch::full({2}, 77, torch::kByte)));
  expect_error(ErrorKind::BadData, {"'77'", "does not know"}, [&] {
    load_images({folder.path(), {}}, small(), coding, kTwoGlimpses, 3);
  });
  folder.write("test-labels-idx1-ubyte", idx_bytes(torch::zeros({2}, torch::kByte)));
  EXPECT_EQ(load_images({folder.path(), {}}, small(), coding, kTwoGlimpses, 3).test->size(), 2);
  folder.write("test-images-idx3-ubyte", idx_bytes(torch::zeros({2, 9, 12}, torch::kByte)));
  expect_error(ErrorKind::BadData, {"1 x 9 x 12", "1 x 12 x 12"}, [&] {
    load_images({folder.path(), {}}, small(), coding, kTwoGlimpses, 3);
  });
}

TEST(ImagesData, RefusesSourcesWithoutPictures) {
  TemporaryFolder folder;
  ImageCoding coding;
  expect_error(ErrorKind::NotFound, "neither idx files", [&] {
    load_images({folder.path(), {}}, small(), coding, kTwoGlimpses, 3);
  });
  expect_error(ErrorKind::NotFound, "no such file", [&] {
    load_images({folder / "nowhere", {}}, small(), coding, kTwoGlimpses, 3);
  });
}

TEST(ImagesData, TheCodingSurvivesItsFile) {
  ImageCoding coding;
  load_images({}, small(), coding, kTwoGlimpses, 3);
  const ImageCoding again = ImageCoding::from_json(coding.to_json(), "run");
  EXPECT_EQ(again.classes, coding.classes);
  EXPECT_EQ(again.shape, coding.shape);
  for (const char* key : {"classes", "height"}) {
    Json broken = coding.to_json();
    broken[key] = nullptr;
    expect_error(ErrorKind::BadData, {"run: the field", key},
                 [&] { ImageCoding::from_json(broken, "run"); });
  }
  Json huge = coding.to_json();
  huge["width"] = int64_t{1} << 40;
  expect_error(ErrorKind::BadData, "run: width", [&] { ImageCoding::from_json(huge, "run"); });
  huge["width"] = huge["height"] = 1 << 16;
  expect_error(ErrorKind::BadData, "cannot be", [&] { ImageCoding::from_json(huge, "run"); });
}

}  // namespace
}  // namespace fovea::images::load_test
