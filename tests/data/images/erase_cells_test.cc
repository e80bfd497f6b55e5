#include "fovea/data/images/erase_cells.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::erase_cells_test {
namespace {

using testing::expect_error;

TEST(EraseCells, CellsGetTheMeanColour) {
  Example example;
  at::Tensor image = torch::zeros({3, 8, 8}, torch::kByte);
  image[1].fill_(100);
  image.slice(1, 0, 4).slice(2, 0, 4).fill_(200);  // the first cell of 2 x 2
  example.tensors["image"] = image;
  const Axis axis = cell_axis("cells", 2, 2, "picture");
  EXPECT_EQ(axis.labels[2], "row 2, column 1");
  const std::vector<int64_t> units{0};
  const at::Tensor erased = erase_cells(example, "image", axis, units).tensors.at("image");
  EXPECT_EQ(erased[0][0][0].item<int>(), 50);
  EXPECT_EQ(erased[1][3][3].item<int>(), 125);
  EXPECT_TRUE(erased.slice(1, 4, 8).equal(image.slice(1, 4, 8)));
  EXPECT_EQ(image[0][0][0].item<int>(), 200) << "the example itself stays";
  const std::vector<int64_t> outside{4};
  expect_error(ErrorKind::InvalidArgument, "unit 4",
               [&] { erase_cells(example, "image", axis, outside); });
}

}  // namespace
}  // namespace fovea::erase_cells_test
