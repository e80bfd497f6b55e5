#include "fovea/nn/vision/image_augment.h"

#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void ImageAugmentOptions::describe(OptionList& list) {
  list.add("shift", shift, "training: pictures move by up to this share of their side").rate();
  list.add("crop", crop, "training: up to this share of the side is cut off, the rest stretched")
      .rate();
  list.add("flip", flip, "training: half of the pictures are mirrored, left and right exchanged");
}

Tensor augment_images(const Tensor& images, const ImageAugmentOptions& options,
                      const Random& random) {
  if (options.shift == 0 && options.crop == 0 && !options.flip) return images;
  const int64_t batch = images.size(0), height = images.size(2), width = images.size(3);
  const auto draw = [&](const char* name, int64_t columns) {
    return random.split(name).uniform_tensor({batch, columns}, -1, 1, at::kDouble);
  };
  // A place of the new picture, in -1 … 1, is found at scale * place + offset of the old one.
  const Tensor cut = options.crop * (draw("crop", 1) + 1) / 2;  // [B, 1]
  Tensor scale = (1 - cut).expand({batch, 2});                  // [B, 2]: x, y
  Tensor offset = cut * draw("place", 2);                       // [B, 2]
  if (options.shift > 0) {
    // By whole pixels: nothing is blurred where nothing is cropped.
    const Tensor pixels = torch::tensor({double(width), double(height)}, at::kDouble);  // [2]
    offset = offset + (options.shift * draw("shift", 2) * pixels).round() * 2 / pixels;
  }
  if (options.flip) {
    const Tensor mirror = (draw("flip", 1) < 0).to(at::kDouble) * -2 + 1;  // [B, 1]: -1 or 1
    scale = scale * at::cat({mirror, at::ones_like(mirror)}, 1);
  }
  const Tensor theta = at::cat({at::diag_embed(scale), offset.unsqueeze(2)}, 2)  // [B, 2, 3]
                           .to(images.device(), images.scalar_type());
  const Tensor grid = at::affine_grid_generator(theta, images.sizes(), /*align_corners=*/false);
  constexpr int64_t kBilinear = 0, kBorder = 1;
  return at::grid_sampler(images, grid, kBilinear, kBorder, /*align_corners=*/false);
}

}  // namespace fovea
