#include "fovea/data/images/encoder.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::images::encoder_test {
namespace {

constexpr int64_t kRows = 6, kSide = 8;

/// Black pictures with a bright rectangle of 2 x 3 pixels at (row % 3 + 1, 2).
at::Tensor pictures() {
  const at::Tensor pixels = torch::zeros({kRows, 1, kSide, kSide}, torch::kByte);
  for (int64_t row = 0; row < kRows; ++row)
    pixels[row][0].slice(0, 2, 4).slice(1, row % 3 + 1, row % 3 + 4).fill_(100 + row);
  return pixels;
}

ImageDataset dataset(const std::string& view, int64_t canvas = 20, bool knows_objects = true) {
  ViewOptions options;
  options.view = view;
  options.canvas = canvas;
  options.clutter_size = 3;
  const PictureShape shape = shape_of_views({1, kSide, kSide}, options);
  return {pictures(), {0, 1, 0, 1, 0, 1}, options, {shape, 3}, Random(5), knows_objects};
}

std::vector<int64_t> all_rows() {
  std::vector<int64_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

TEST(Images, APlainViewIsThePicture) {
  const Batch batch = dataset("plain").batch(all_rows());
  EXPECT_TRUE(batch.at("image").equal(pictures()));
  EXPECT_TRUE(batch.at("target").equal(torch::tensor({0, 1, 0, 1, 0, 1}, torch::kLong)));
  const at::Tensor box = batch.at("box")[1] * 8;  // left, top, right, bottom
  EXPECT_TRUE(box.equal(torch::tensor({2.0f, 2.0f, 5.0f, 4.0f}))) << box;
}

TEST(Images, ATranslatedViewHoldsTheWholePictureWhereTheBoxSays) {
  const Batch batch = dataset("translated").batch(all_rows());
  EXPECT_EQ(batch.at("image").sizes(), at::IntArrayRef({kRows, 1, 20, 20}));
  for (int64_t row = 0; row < kRows; ++row) {
    const at::Tensor image = batch.at("image")[row][0];
    EXPECT_EQ((image == 100 + row).sum().item<int64_t>(), 6);
    EXPECT_EQ((image > 0).sum().item<int64_t>(), 6);
    const at::Tensor box = (batch.at("box")[row] * 20).round().to(torch::kLong);
    const auto side = [&](int64_t i) { return box[i].item<int64_t>(); };
    EXPECT_EQ(side(2) - side(0), 3);
    EXPECT_EQ(side(3) - side(1), 2);
    EXPECT_EQ((image.slice(0, side(1), side(3)).slice(1, side(0), side(2)) > 0).sum().item<int>(),
              6);
  }
}

TEST(Images, ClutterIsCutOutOfOtherPictures) {
  const ImageDataset data = dataset("cluttered");
  int64_t pieces = 0;
  for (uint64_t draw = 0; draw < 20; ++draw) {
    const at::Tensor image = data.augmented_batch(all_rows(), Random(draw)).at("image");
    for (int64_t row = 0; row < kRows; ++row) {
      const at::Tensor seen = image[row][0];
      EXPECT_LE((seen == 100 + row).sum().item<int64_t>(), 6) << "none is its own";
      pieces += ((seen > 0) & (seen != 100 + row)).any().item<bool>();
    }
  }
  EXPECT_GT(pieces, 90) << "of 120 views";
}

TEST(Images, AViewIsFixedAndTrainingSeesNewOnes) {
  const ImageDataset data = dataset("translated"), again = dataset("translated");
  const std::vector<int64_t> rows = all_rows(), some{4, 1};
  const at::Tensor fixed = data.batch(rows).at("image");
  EXPECT_TRUE(again.batch(rows).at("image").equal(fixed));
  EXPECT_TRUE(data.batch(some).at("image").equal(fixed.index_select(0, torch::tensor({4, 1}))))
      << "whatever batch it is in";
  EXPECT_TRUE(data.example(4).tensors.at("image").equal(fixed[4]));
  const at::Tensor first = data.augmented_batch(rows, Random(1)).at("image"),
                   second = data.augmented_batch(rows, Random(2)).at("image");
  EXPECT_FALSE(first.equal(second));
  EXPECT_TRUE(data.augmented_batch(rows, Random(1)).at("image").equal(first)) << "after a resume";
}

TEST(Images, ExamplesHaveAxesAndTruth) {
  const Example example = dataset("translated").example(2);
  EXPECT_EQ(example.axis("glimpses").labels.size(), 3u);
  EXPECT_EQ(example.axis("cells").grid_rows, 5) << "cells of 4 pixels";
  EXPECT_EQ(example.axis("cells").labels.size(), 25u);
  EXPECT_EQ(example.axis("picture").media, "picture");
  const at::Tensor truth = example.truth.at("looks");  // [3, 25]
  ASSERT_EQ(truth.sizes(), at::IntArrayRef({3, 25}));
  const at::Tensor bright = (example.tensors.at("image")[0] > 0).nonzero();  // [6, 2]: y, x
  for (int64_t i = 0; i < bright.size(0); ++i) {
    const int64_t y = bright[i][0].item<int64_t>(), x = bright[i][1].item<int64_t>();
    EXPECT_TRUE(truth[0][y / 4 * 5 + x / 4].item<bool>());
  }
  EXPECT_LE(truth[0].sum().item<int64_t>(), 4) << "a box of 3 x 2 touches four cells at most";
  EXPECT_TRUE(dataset("plain", 20, false).example(2).truth.empty());
}

TEST(Images, ErasedCellsAreOfOneColour) {
  const Example example = dataset("plain").example(0);
  const PictureEncoder encoder{{1, kSide, kSide}, 3};
  const std::vector<int64_t> units{0, 1};  // of 2 x 2: the upper half
  const at::Tensor erased = encoder.erase(example, "cells", units).tensors.at("image");
  EXPECT_EQ(erased.slice(1, 0, 4).max().item<int>(), erased.slice(1, 0, 4).min().item<int>());
  EXPECT_TRUE(erased.slice(1, 4, 8).equal(example.tensors.at("image").slice(1, 4, 8)));
  expect_error(ErrorKind::Unsupported, "'cells' can",
               [&] { encoder.erase(example, "glimpses", units); });
}

TEST(Images, PatchesStandBehindAClassTokenThatStays) {
  const PictureEncoder encoder{{1, kSide, kSide}, 0, 2, 4};
  const at::Tensor picture = pictures()[0];
  const Example example = encoder.example(picture);
  const Axis& patches = example.axis("patches");
  ASSERT_EQ(patches.labels.size(), 9u);
  EXPECT_EQ(patches.labels[0], "class token");
  EXPECT_EQ(patches.labels[8], "row 2, column 4");
  EXPECT_EQ(patches.special, (std::vector<int64_t>{0}));
  EXPECT_EQ(patches.grid_rows, 2);
  const auto erased = [&](std::vector<int64_t> units) {
    return encoder.erase(example, "patches", units).tensors.at("image");
  };
  EXPECT_TRUE(erased({0}).equal(picture));
  const at::Tensor second = erased({0, 2});  // the upper half of columns 2 and 3
  EXPECT_EQ(second.slice(1, 0, 4).slice(2, 2, 4).max().item<int>(),
            second.slice(1, 0, 4).slice(2, 2, 4).min().item<int>());
  EXPECT_TRUE(second.slice(1, 4, 8).equal(picture.slice(1, 4, 8)));
  EXPECT_TRUE(second.slice(2, 4, 8).equal(picture.slice(2, 4, 8)));
  expect_error(ErrorKind::Unsupported, "'patches' can",
               [&] { encoder.erase(example, "cells", {}); });
  expect_error(ErrorKind::InvalidArgument, "cannot be erased", [&] { erased({9}); });
}

TEST(Images, RefusesACanvasThatIsTooSmall) {
  expect_error(ErrorKind::InvalidArgument, "data.canvas=7", [] { dataset("translated", 7); });
  ViewOptions options;
  options.view = "cluttered";
  options.clutter_size = 9;
  expect_error(ErrorKind::InvalidArgument, "data.clutter_size=9", [&] {
    shape_of_views({1, kSide, kSide}, options);
  });
}

TEST(Images, RefusesARowThatIsNotThere) {
  const std::vector<int64_t> rows{kRows};
  EXPECT_THROW(dataset("plain").batch(rows), Error);
}

}  // namespace
}  // namespace fovea::images::encoder_test
