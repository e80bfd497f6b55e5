#include "fovea/data/images/synthetic.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::images::synthetic_test {
namespace {

SyntheticImagesOptions small() {
  SyntheticImagesOptions options;
  options.rows = 400, options.validation_rows = 30, options.test_rows = 20;
  return options;
}

at::Tensor pixels_of(const std::vector<LabelledImage>& rows) {
  std::vector<at::Tensor> pixels;
  for (const LabelledImage& row : rows) pixels.push_back(row.pixels);
  return torch::stack(pixels);  // [N, 1, side, side]
}

TEST(SyntheticImages, SplitsHaveTheirSizesAndAllDigits) {
  const SplitRows<LabelledImage> draw = draw_images(small());
  EXPECT_EQ(pixels_of(draw.train).sizes(), at::IntArrayRef({400, 1, 28, 28}));
  EXPECT_EQ(draw.validation.size(), 30);
  EXPECT_EQ(draw.test.size(), 20);
  std::set<std::string> labels;
  for (const LabelledImage& row : draw.train) labels.insert(row.label);
  EXPECT_EQ(labels.size(), 10u);
}

TEST(SyntheticImages, TheSeedDecidesThem) {
  SyntheticImagesOptions options = small();
  const at::Tensor first = pixels_of(draw_images(options).train);
  EXPECT_TRUE(pixels_of(draw_images(options).train).equal(first));
  options.rows = 100;
  EXPECT_TRUE(pixels_of(draw_images(options).train).equal(first.narrow(0, 0, 100)))
      << "fewer rows are the first ones";
  options.seed = 2;
  EXPECT_FALSE(pixels_of(draw_images(options).train).equal(first.narrow(0, 0, 100)));
}

TEST(SyntheticImages, AreWhiteOnBlackWithSmoothEdges) {
  for (int64_t digit = 0; digit < 10; ++digit) {
    const at::Tensor picture = draw_digit(digit, {}, Random(uint64_t(digit)))[0];
    EXPECT_EQ(picture.max().item<int>(), 255) << digit;
    const int64_t grey = ((picture > 0) & (picture < 255)).sum().item<int64_t>();
    const int64_t ink = (picture > 0).sum().item<int64_t>();
    EXPECT_GT(grey, 20) << digit;
    EXPECT_GT(ink, 60) << digit;
    EXPECT_LT(ink, 450) << digit;
    const at::Tensor frame =
        torch::cat({picture[0], picture[27], picture.select(1, 0), picture.select(1, 27)});
    EXPECT_LE(frame.max().item<int>(), 128) << digit << " stays inside";
  }
}

// Nearest means: were two digits drawn alike, or all too wild, this could not work.
TEST(SyntheticImages, CanBeToldApart) {
  SyntheticImagesOptions options = small();
  options.rows = 2000;
  options.slant = options.turn = 0;
  const std::vector<LabelledImage> train = draw_images(options).train;
  const auto centred = [](const at::Tensor& pictures) {  // without the random place
    at::Tensor result = torch::zeros_like(pictures);
    for (int64_t row = 0; row < pictures.size(0); ++row) {
      const at::Tensor ink = (pictures[row][0] > 127).nonzero();  // [P, 2]
      const at::Tensor shift =
          14 - std::get<0>(ink.min(0)) - (std::get<0>(ink.max(0)) - std::get<0>(ink.min(0))) / 2;
      result[row] =
          pictures[row].roll({shift[0].item<int64_t>(), shift[1].item<int64_t>()}, {1, 2});
    }
    return result.to(torch::kFloat).flatten(1);
  };
  const at::Tensor pixels = centred(pixels_of(train));  // [N, 784]
  std::vector<int64_t> numbers;
  for (const LabelledImage& row : train) numbers.push_back(row.label[0] - '0');
  const at::Tensor labels = torch::tensor(numbers);
  at::Tensor means = torch::zeros({10, 784});
  for (int64_t digit = 0; digit < 10; ++digit)
    means[digit] = pixels.narrow(0, 0, 1500).index({labels.narrow(0, 0, 1500) == digit}).mean(0);
  const at::Tensor nearest = torch::cdist(pixels.narrow(0, 1500, 500), means).argmin(1);
  const double share =
      (nearest == labels.narrow(0, 1500, 500)).to(torch::kFloat).mean().item<double>();
  EXPECT_GT(share, 0.7);
}

TEST(SyntheticImages, RefusesSizesThatCannotBe) {
  SyntheticImagesOptions options = small();
  options.side = 4;
  EXPECT_THROW(draw_images(options), Error);
  options.side = 28;
  options.rows = -1;
  EXPECT_THROW(draw_images(options), Error);
  EXPECT_THROW(draw_digit(10, {}, Random(1)), Error);
}

}  // namespace
}  // namespace fovea::images::synthetic_test
