#include "fovea/nn/vision/image_augment.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/golden.h"

namespace fovea::image_augment_test {
namespace {

using testing::largest_difference;

at::Tensor pictures(int64_t count) {
  return Random(2).uniform_tensor({count, 3, 12, 16}, -1, 1, at::kFloat);
}

TEST(ImageAugment, NothingAskedNothingChanged) {
  const at::Tensor images = pictures(3);
  EXPECT_TRUE(augment_images(images, {}, Random(1)).equal(images));
}

TEST(ImageAugment, TheStreamAloneDecides) {
  const at::Tensor images = pictures(3);
  const ImageAugmentOptions options{0.2, 0.3, true};
  const at::Tensor one = augment_images(images, options, Random(1));
  EXPECT_TRUE(one.equal(augment_images(images, options, Random(1))));
  EXPECT_FALSE(one.equal(augment_images(images, options, Random(2))));
  EXPECT_EQ(one.sizes(), images.sizes());
  EXPECT_TRUE(one.isfinite().all().item<bool>());
}

TEST(ImageAugment, AFlipMirrorsSomeAndLeavesTheRest) {
  const at::Tensor images = pictures(40);
  const at::Tensor flipped = augment_images(images, {0, 0, true}, Random(1));
  int mirrored = 0;
  for (int64_t row = 0; row < 40; ++row) {
    const bool is_same = largest_difference(flipped[row], images[row]) < 1e-4,
               is_mirror = largest_difference(flipped[row], images[row].flip(2)) < 1e-4;
    EXPECT_TRUE(is_same != is_mirror) << row;
    mirrored += is_mirror;
  }
  EXPECT_GT(mirrored, 8);
  EXPECT_LT(mirrored, 32);
}

TEST(ImageAugment, AShiftMovesByWholePixels) {
  const at::Tensor images = pictures(20);
  const at::Tensor moved = augment_images(images, {0.25, 0, false}, Random(1));
  std::set<std::pair<int64_t, int64_t>> found;
  for (int64_t row = 0; row < 20; ++row) {
    bool known = false;
    for (int64_t down = -3; down <= 3 && !known; ++down)
      for (int64_t right = -4; right <= 4 && !known; ++right) {
        // The middle, which no shift brings the border into.
        const at::Tensor before = images[row].narrow(1, 4 + down, 4).narrow(2, 5 + right, 6),
                         after = moved[row].narrow(1, 4, 4).narrow(2, 5, 6);
        known = largest_difference(before, after) < 1e-4;
        if (known) found.insert({down, right});
      }
    EXPECT_TRUE(known) << row;
  }
  EXPECT_GT(found.size(), 8u);
}

TEST(ImageAugment, ACropStaysInside) {
  // A ramp from left to right stays a ramp, never steeper and never beyond its ends.
  const at::Tensor ramp =
      torch::arange(16, at::kFloat).view({1, 1, 1, 16}).expand({10, 3, 12, 16}).contiguous();
  const at::Tensor part = augment_images(ramp, {0, 0.5, false}, Random(3));
  EXPECT_GE(part.min().item<double>(), 0);
  EXPECT_LE(part.max().item<double>(), 15);
  const at::Tensor steps = part.narrow(3, 1, 15) - part.narrow(3, 0, 15);
  EXPECT_GE(steps.min().item<double>(), -1e-4);
  EXPECT_LE(steps.max().item<double>(), 1 + 1e-4);
  EXPECT_LT(part.max().item<double>() - 0, 15.1);
}

}  // namespace
}  // namespace fovea::image_augment_test
