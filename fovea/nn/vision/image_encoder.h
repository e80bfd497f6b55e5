// Pictures to annotations, one vector for each cell of a grid: what a caption's words look at. The
// bytes of a picture come in; each network normalises them as it was trained.
//   small     blocks of convolutions 3 x 3 with biases, each with a layer norm over the channels of
//   a place and
//             a ReLU, then max pooling 2 x 2. Nothing looks at other pictures of a batch, and a
//             cell knows only its surroundings
//   resnet18 … resnet152, vgg16, vgg19
//             He et al. 2016 and Simonyan and Zisserman 2015 with torchvision's tensor names, cut
//             off after the first `encoder_layers` layers or blocks; weights come from a
//             safetensors file. Batch norms keep the file's means and variances, in training too
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct ImageEncoderOptions {
  std::string name = "small";
  std::vector<int64_t> channels = {32, 64, 128};  // small: of each block
  int64_t convolutions = 1;                       // small: in each block
  int64_t encoder_layers = 3;                     // resnet: 1 to 4, vgg: 1 to 5
  std::string weights;                            // resnet, vgg: a safetensors file
  bool freeze = false;
  int64_t inputs = 3;  // small: numbers of a pixel
  void describe(OptionList& list);
};

class ImageEncoder : public torch::nn::Module {
 public:
  virtual void initialise(const Random& random) = 0;
  /// Bytes [B, 3, S, S] as the numbers that the network expects, of the type of its weights.
  virtual at::Tensor normalise(const at::Tensor& images) const = 0;
  /// What normalise() gave -> [B, D, S / stride, S / stride]
  virtual at::Tensor forward(const at::Tensor& normalised) const = 0;
  virtual int64_t features() const = 0;  // D
  virtual int64_t stride() const = 0;    // pixels of a cell's side
  /// Tensors of a file of weights that this network may do without.
  virtual bool may_leave_out(const std::string& /*name*/) const { return false; }
};

std::shared_ptr<ImageEncoder> make_image_encoder(const ImageEncoderOptions& options);

/// Pixels of a cell's side, without making a network.
int64_t stride_of(const ImageEncoderOptions& options);

/// Copies weights that were trained elsewhere. BadData names, in one message, what is missing, what
/// is unknown and what has another shape; the layers behind the cut and the classifier (fc) are
/// left out.
void load_encoder_weights(ImageEncoder& encoder, const std::filesystem::path& path);

}  // namespace fovea
