// ResNet-18 (He et al. 2016) up to one of its four layers, under torchvision's names:
//   conv1 7 x 7, stride 2; bn1; ReLU; max pooling 3 x 3, stride 2
//   layer1 … layer4, two blocks each: y = ReLU(bn2(conv2(ReLU(bn1(conv1(x))))) + x), where layer2 …
//   layer4 halve the sides and double the numbers (x then goes through `downsample`)
// A batch norm uses the running mean and variance that it was given, as if it were no longer
// trained.
#pragma once

#include "fovea/nn/vision/image_encoder.h"

namespace fovea {

class ResidualNetwork : public ImageEncoder {
 public:
  explicit ResidualNetwork(int64_t layers);

  void initialise(const Random& random) override;
  /// ImageNet's means and deviations.
  at::Tensor normalise(const at::Tensor& images) const override;
  at::Tensor forward(const at::Tensor& normalised) const override;
  int64_t features() const override { return int64_t{32} << layers_; }
  int64_t stride() const override { return int64_t{2} << layers_; }

  /// Later layers, the classifier, counts.
  bool may_leave_out(const std::string& name) const override;

 private:
  struct Norm {
    at::Tensor weight, bias, mean, variance;  // [C]
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Block {
    at::Tensor first, second, shortcut;  // convolutions; the last one where the shape changes
    Norm first_norm, second_norm, shortcut_norm;
    int64_t stride = 1;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  /// Parts are modules without anything of their own, so that names have torchvision's dots.
  Norm make_norm(torch::nn::Module& owner, const std::string& name, int64_t channels);
  Block make_block(const std::string& name, torch::nn::Module& layer, int64_t in, int64_t out);

  int64_t layers_;
  at::Tensor entry_;  // conv1 [64, 3, 7, 7]
  Norm entry_norm_;
  std::vector<Block> blocks_;
};

/// N(0, 2 / fan_in) for a convolution [out, in, h, w] in front of a ReLU (He et al. 2015).
at::Tensor he_normal(at::IntArrayRef sizes, const Random& random);

}  // namespace fovea
