#include "fovea/nn/vision/patch_embedding.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kTokenDeviation = 0.02;  // of fresh class tokens and positions
constexpr int64_t kFewestStemChannels = 8;

ImageEncoderOptions stem_of(const PatchEmbeddingOptions& options) {
  ImageEncoderOptions stem;
  stem.inputs = options.channels;
  stem.channels.clear();
  for (int64_t block = 1; block <= options.blocks; ++block)
    stem.channels.push_back(
        std::max(kFewestStemChannels, options.width >> (options.blocks - block)));
  return stem;
}

}  // namespace

PatchEmbedding::PatchEmbedding(const PatchEmbeddingOptions& options) : options_(options) {
  const auto& o = options_;
  require(o.patch >= 1 && o.patch % (int64_t{1} << o.blocks) == 0, ErrorKind::InvalidArgument,
          "a patch of ", o.patch, " pixels cannot be halved ", o.blocks, " times");
  int64_t numbers = o.channels;
  if (o.blocks > 0) {
    stem_ = register_module("stem", make_image_encoder(stem_of(o)));
    numbers = stem_->features();
  }
  const int64_t side = o.patch >> o.blocks;
  weight = register_parameter("weight", at::zeros({o.width, numbers, side, side}));
  bias = register_parameter("bias", at::zeros({o.width}));
  class_token = register_parameter("class_token", at::zeros({1, 1, o.width}));
  positions = register_parameter("positions", at::zeros({1, 1 + o.rows * o.columns, o.width}));
}

void PatchEmbedding::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  if (stem_) stem_->initialise(random.split("stem"));
  const auto fill = [&](const Tensor& tensor, const char* name, double deviation) {
    tensor.copy_(random.split(name).normal_tensor(tensor.sizes(), 0, deviation, at::kFloat));
  };
  fill(weight, "weight", 1 / std::sqrt(double(weight[0].numel())));
  bias.zero_();
  fill(class_token, "class_token", kTokenDeviation);
  fill(positions, "positions", kTokenDeviation);
}

Tensor PatchEmbedding::forward(Tensor x) const {
  const auto& o = options_;
  const int64_t height = o.rows * o.patch, width = o.columns * o.patch;
  if (x.size(2) != height || x.size(3) != width)
    x = at::upsample_bilinear2d(x, {height, width}, /*align_corners=*/false);
  if (stem_) x = stem_->forward(x);
  x = at::conv2d(x, weight, bias, /*stride=*/weight.size(2));  // [B, D, rows, columns]
  const Tensor token = class_token.expand({x.size(0), -1, -1});
  return at::cat({token, x.flatten(2).transpose(1, 2)}, 1) + positions;  // [B, 1 + N, D]
}

Tensor resized_positions(const Tensor& positions, int64_t rows, int64_t columns, int64_t new_rows,
                         int64_t new_columns) {
  require(positions.dim() == 3 && positions.size(1) == 1 + rows * columns,
          ErrorKind::InvalidArgument, "positions ", positions.sizes(),
          " are not those of a class token and ", rows, " x ", columns, " patches");
  if (rows == new_rows && columns == new_columns) return positions;
  const Tensor grid = positions.slice(1, 1)
                          .unflatten(1, {rows, columns})
                          .permute({0, 3, 1, 2})
                          .contiguous();  // [1, D, rows, columns]
  const Tensor moved =
      at::upsample_bicubic2d(grid, {new_rows, new_columns}, /*align_corners=*/false);
  return at::cat({positions.slice(1, 0, 1), moved.flatten(2).transpose(1, 2)}, 1);
}

}  // namespace fovea
