// VGG (Simonyan and Zisserman 2015) up to one of its five blocks, under torchvision's names: blocks
// of convolutions 3 x 3 with biases and ReLU, called features.0, features.2, …, with max pooling
// 2 x 2 between the blocks. What follows the last convolution that is kept is cut off, its pooling
// too: five blocks give the annotations of Xu et al. 2015, 14 x 14 of 224 x 224 pixels.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "fovea/nn/vision/image_encoder.h"

namespace fovea {

/// A row of the table of networks.
struct VggShape {
  const char* name;                     // "vgg16"
  std::array<int64_t, 5> convolutions;  // of each block
};
std::span<const VggShape> vgg_shapes();

class VggNetwork : public ImageEncoder {
 public:
  /// The first `blocks` blocks of one of vgg_shapes().
  VggNetwork(int64_t blocks, const std::string& name);

  void initialise(const Random& random) override;
  /// ImageNet's means and deviations.
  at::Tensor normalise(const at::Tensor& images) const override;
  at::Tensor forward(const at::Tensor& normalised) const override;
  int64_t features() const override { return weights_.back().size(0); }
  int64_t stride() const override { return int64_t{1} << (blocks_ - 1); }

  /// Later blocks and the classifier.
  bool may_leave_out(const std::string& name) const override;

 private:
  int64_t blocks_;
  int64_t last_ = 0;  // number of the last convolution among `features`
  std::vector<at::Tensor> weights_, biases_;
  std::vector<bool> begins_block_;  // of each convolution
};

}  // namespace fovea
