#include "fovea/models/vision_transformer.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::vision_transformer_test {
namespace {

using testing::expect_error;
using testing::largest_difference;

VisionTransformerOptions small() {
  VisionTransformerOptions options;
  options.patch = 4;
  options.layers = 2;
  options.hidden = 8;
  options.heads = 2;
  return options;
}

PictureInput input_of(const VisionTransformerOptions& options, int64_t height = 12,
                      int64_t width = 16) {
  const PatchGrid grid = patch_grid(options, height, width);
  return {.classes = 3,
          .channels = 3,
          .height = height,
          .width = width,
          .grid_rows = grid.rows,
          .grid_columns = grid.columns};
}

std::shared_ptr<VisionTransformer> fresh(const VisionTransformerOptions& options) {
  auto model = std::make_shared<VisionTransformer>(options, input_of(options));
  model->initialise(Random(1));
  return model;
}

Batch pictures(int64_t rows, int64_t height = 12, int64_t width = 16) {
  Batch batch;
  batch.size = rows;
  batch.tensors["image"] =
      Random(3).uniform_tensor({rows, 3, height, width}, 0, 256, at::kFloat).to(at::kByte);
  batch.tensors["target"] = torch::arange(rows, at::kLong).remainder(3);
  return batch;
}

TEST(VisionTransformer, ThePatchIsAnEighthOfTheSide) {
  VisionTransformerOptions options;
  const auto grid = [&](int64_t height, int64_t width) {
    return patch_grid(options, height, width);
  };
  EXPECT_EQ(grid(28, 28).patch, 4);
  EXPECT_EQ(grid(28, 28).rows, 7);
  EXPECT_EQ(grid(32, 32).columns, 8);
  EXPECT_EQ(grid(224, 224).patch, 16);
  EXPECT_EQ(grid(224, 200).columns, 13);
  EXPECT_EQ(grid(1, 1).rows, 1);
  EXPECT_EQ(grid(3, 40).patch, 3);
  EXPECT_EQ(grid(3, 40).blocks, 0) << "3 pixels cannot be halved";
  EXPECT_EQ(grid(32, 32).blocks, 2);
  EXPECT_EQ(grid(48, 48).blocks, 1) << "6 pixels can be halved once";
}

TEST(VisionTransformer, MapsGoFromTheClassTokenAndThePatchesToThemselves) {
  const auto model = fresh(small());
  const Batch batch = pictures(2);
  Tap tap;
  model->replay(batch, model->predict(batch), &tap);
  ASSERT_EQ(tap.maps().size(), 2u);
  for (const AttentionMap& map : tap.maps()) {
    EXPECT_EQ(map.weights.sizes(), at::IntArrayRef({2, 2, 13, 13}));
    EXPECT_EQ(map.query_axis, "patches");
    EXPECT_EQ(map.key_axis, "patches");
  }
  const Leaf& leaf = tap.leaves().at("patches");
  ASSERT_EQ(leaf.unit_of.size(), 192u) << "pixels";
  EXPECT_EQ(leaf.unit_of.front(), 1) << "0 is the class token";
  EXPECT_EQ(leaf.unit_of[16 * 4 + 15], 8) << "row 2, column 4";
}

TEST(VisionTransformer, TheOrderOfPatchesMattersByTheirPositionsAlone) {
  torch::NoGradGuard no_gradients;
  VisionTransformerOptions options = small();
  options.convolutions = 0;
  const auto model = fresh(options);
  const Batch batch = pictures(1);
  Batch swapped = batch;  // the first two patches
  const at::Tensor& image = batch.at("image");
  swapped.tensors["image"] = image.clone();
  swapped.tensors["image"].slice(2, 0, 4).copy_(
      torch::cat({image.slice(2, 0, 4).slice(3, 4, 8), image.slice(2, 0, 4).slice(3, 0, 4),
                  image.slice(2, 0, 4).slice(3, 8, 16)},
                 3));
  EXPECT_GT(largest_difference(model->predict(batch).scores, model->predict(swapped).scores), 1e-6);
  model->named_parameters()["patches.positions"].zero_();
  EXPECT_LT(largest_difference(model->predict(batch).scores, model->predict(swapped).scores), 1e-6);
}

TEST(VisionTransformer, TrainingAugmentsAndAnswersDoNot) {
  VisionTransformerOptions options = small();
  options.dropout = 0;
  const auto model = fresh(options);
  const Batch batch = pictures(6);
  const auto loss = [&](uint64_t seed) {
    return model->loss(batch, {Random(seed), 0}).objective.item<double>();
  };
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(loss(1), loss(2));
  EXPECT_TRUE(model->predict(batch).scores.equal(model->predict(batch).scores));
}

TEST(VisionTransformer, GradientsEqualFiniteDifferences) {
  VisionTransformerOptions options = small();
  options.augment = {};
  options.dropout = 0;
  const auto model = fresh(options);
  model->to(at::kDouble);
  const Batch batch = pictures(3);
  const auto loss = [&] { return model->loss(batch, {Random(1), 0}).objective; };
  EXPECT_LT(testing::gradient_error(loss, model->parameters(), {3, 1e-6, 1}), 1e-5);
}

TEST(VisionTransformer, HeadsCanBeTakenOut) {
  VisionTransformerOptions options = small();
  options.pruned_heads = "attention.2:1";
  const auto model = fresh(options);
  const Batch batch = pictures(1);
  Tap tap;
  model->replay(batch, model->predict(batch), &tap);
  EXPECT_EQ(tap.maps()[0].weights.size(1), 2);
  EXPECT_EQ(tap.maps()[1].weights.size(1), 1);
}

TEST(VisionTransformer, WhatCannotBeIsRefused) {
  VisionTransformerOptions options = small();
  expect_error(ErrorKind::InvalidArgument, {"3 x 30 pixels", "smaller than a patch of 4 x 4"},
               [&] { patch_grid(options, 3, 30); });
  options.patch = 1;
  expect_error(ErrorKind::InvalidArgument, {"10,000", "at most 4,096"},
               [&] { patch_grid(options, 100, 100); });
  options = small();
  options.heads = 3;
  expect_error(ErrorKind::InvalidArgument, "not divided by model.heads=3", [&] { fresh(options); });
  options = small();
  options.mean = "0.5,0.5";
  expect_error(ErrorKind::InvalidArgument, "need 1 or 3", [&] { fresh(options); });
  options.mean = "grey";
  expect_error(ErrorKind::InvalidArgument, "'grey' is no number", [&] { fresh(options); });
  options.mean = "0.5";
  options.deviation = "0";
  expect_error(ErrorKind::InvalidArgument, "must be above 0", [&] { fresh(options); });
}

}  // namespace
}  // namespace fovea::vision_transformer_test
