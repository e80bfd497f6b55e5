#include "fovea/nn/vision/patch_embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::patch_embedding_test {
namespace {

using testing::expect_error;
using testing::largest_difference;

at::Tensor pictures(int64_t count, int64_t height, int64_t width) {
  return Random(2).uniform_tensor({count, 3, height, width}, -1, 1, at::kFloat);
}

std::shared_ptr<PatchEmbedding> embedding(int64_t blocks = 0) {
  auto made = std::make_shared<PatchEmbedding>(PatchEmbeddingOptions{3, 2, 3, 4, blocks, 8});
  made->initialise(Random(1));
  return made;
}

TEST(PatchEmbedding, APatchIsItsPixelsTimesAMatrixAndItsPosition) {
  torch::NoGradGuard no_gradients;
  const auto patches = embedding();
  const at::Tensor images = pictures(2, 8, 12);
  const at::Tensor found = patches->forward(images);  // [2, 7, 8]
  ASSERT_EQ(found.sizes(), at::IntArrayRef({2, 7, 8}));
  EXPECT_TRUE(found[1][0].allclose(patches->class_token[0][0] + patches->positions[0][0]));
  // Row 1, column 2 of the grid: pixels 4 … 7 by 8 … 11.
  const at::Tensor pixels = images[1].slice(1, 4, 8).slice(2, 8, 12).reshape({-1});
  const at::Tensor expected =
      patches->weight.flatten(1).matmul(pixels) + patches->bias + patches->positions[0][6];
  EXPECT_LT(largest_difference(found[1][6], expected), 1e-5);
}

TEST(PatchEmbedding, OtherSizesAreStretched) {
  torch::NoGradGuard no_gradients;
  const auto patches = embedding(2);
  const at::Tensor grey = torch::full({1, 3, 9, 11}, 0.25);
  EXPECT_LT(largest_difference(patches->forward(grey),
                               patches->forward(torch::full({1, 3, 8, 12}, 0.25))),
            1e-6);
  EXPECT_EQ(patches->forward(pictures(3, 9, 11)).sizes(), at::IntArrayRef({3, 7, 8}));
}

TEST(PatchEmbedding, GradientsEqualFiniteDifferences) {
  for (const int64_t blocks : {0, 2}) {
    const auto patches = embedding(blocks);
    patches->to(at::kDouble);
    const at::Tensor images = pictures(2, 9, 12).to(at::kDouble);
    const auto loss = [&] { return patches->forward(images).square().mean(); };
    EXPECT_LT(testing::gradient_error(loss, patches->parameters(), {3, 1e-6, 1}), 1e-5) << blocks;
  }
}

TEST(PatchEmbedding, PositionsBecomeThoseOfAnotherGrid) {
  const at::Tensor own = Random(4).normal_tensor({1, 7, 5}, 0, 1, at::kFloat);
  EXPECT_TRUE(resized_positions(own, 2, 3, 2, 3).equal(own));
  const at::Tensor larger = resized_positions(own, 2, 3, 4, 6);
  ASSERT_EQ(larger.sizes(), at::IntArrayRef({1, 25, 5}));
  EXPECT_TRUE(larger[0][0].equal(own[0][0])) << "the class token's stays";
  EXPECT_LT(largest_difference(resized_positions(torch::ones({1, 7, 5}), 2, 3, 5, 4),
                               torch::ones({1, 21, 5})),
            1e-6);
}

/// Cubic convolution (Keys 1981) with a = -3/4, as PyTorch's bicubic interpolation has it.
double cubic_weight(double distance) {
  constexpr double a = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

TEST(PatchEmbedding, PositionsAreInterpolatedByCubicConvolution) {
  const at::Tensor own = Random(5).normal_tensor({1, 9, 1}, 0, 1, at::kFloat);  // token, then 0 … 7
  const at::Tensor wider = resized_positions(own, 1, 8, 1, 16);
  for (int64_t i = 4; i < 12; ++i) {  // away from the edges
    const double place = (double(i) + 0.5) / 2 - 0.5;
    double expected = 0;
    for (int64_t k = 0; k < 8; ++k)
      expected += cubic_weight(place - double(k)) * own[0][1 + k].item<double>();
    EXPECT_NEAR(wider[0][1 + i].item<double>(), expected, 1e-5);
  }
}

TEST(PatchEmbedding, WhatCannotBeIsRefused) {
  expect_error(ErrorKind::InvalidArgument, "cannot be halved 3 times", [] {
    PatchEmbedding({3, 2, 2, 4, 3, 8});
  });
  expect_error(ErrorKind::InvalidArgument, "4 x 4 patches", [] {
    resized_positions(torch::zeros({1, 7, 5}), 4, 4, 2, 2);
  });
}

}  // namespace
}  // namespace fovea::patch_embedding_test
