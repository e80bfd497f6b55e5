// ResNet (He et al. 2016) up to one of its four layers, under torchvision's names:
//   conv1 7 x 7, stride 2; bn1; ReLU; max pooling 3 x 3, stride 2
//   layer1 … layer4 of blocks: y = ReLU(bn2(conv2(ReLU(bn1(conv1(x))))) + x), from 50 layers on
//   bottlenecks with a third convolution: 1 x 1, 3 x 3, 1 x 1 to four times the numbers. layer2 …
//   layer4 halve the sides and double the numbers (x then goes through `downsample`)
// A batch norm uses the running mean and variance that it was given, as if it were no longer
// trained.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "fovea/nn/vision/image_encoder.h"

namespace fovea {

/// A row of the table of networks.
struct ResidualShape {
  const char* name;               // "resnet18"
  std::array<int64_t, 4> blocks;  // of each layer
  bool bottleneck;
};
std::span<const ResidualShape> residual_shapes();

class ResidualNetwork : public ImageEncoder {
 public:
  /// The first `layers` layers of one of residual_shapes().
  explicit ResidualNetwork(int64_t layers, const std::string& name = "resnet18");

  void initialise(const Random& random) override;
  /// ImageNet's means and deviations.
  at::Tensor normalise(const at::Tensor& images) const override;
  at::Tensor forward(const at::Tensor& normalised) const override;
  int64_t features() const override { return features_; }
  int64_t stride() const override { return int64_t{2} << layers_; }

  /// Later layers, the classifier, counts.
  bool may_leave_out(const std::string& name) const override;

 private:
  struct Norm {
    at::Tensor weight, bias, mean, variance;  // [C]
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Block {
    std::vector<at::Tensor> convolutions;  // two; three of a bottleneck
    std::vector<Norm> norms;
    at::Tensor shortcut;  // a convolution where the shape changes
    Norm shortcut_norm;
    int64_t stride = 1;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  /// Parts are modules without anything of their own, so that names have torchvision's dots.
  Norm make_norm(torch::nn::Module& owner, const std::string& name, int64_t channels);
  Block make_block(torch::nn::Module& own, int64_t in, int64_t width, int64_t stride,
                   bool bottleneck);

  int64_t layers_, features_ = 0;
  at::Tensor entry_;  // conv1 [64, 3, 7, 7]
  Norm entry_norm_;
  std::vector<Block> blocks_;
};

/// Bytes as ImageNet's networks expect them: 0 … 1, less the channels' means, by their deviations.
/// images [B, 3, S, S] -> the same shape
at::Tensor imagenet_normalised(const at::Tensor& images, at::ScalarType type);

/// N(0, 2 / fan_in) for a convolution [out, in, h, w] in front of a ReLU (He et al. 2015).
at::Tensor he_normal(at::IntArrayRef sizes, const Random& random);

}  // namespace fovea
