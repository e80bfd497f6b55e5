// Pictures classified without glimpses, against which every network that looks has to be held:
//   plain  p = softmax(W ReLU(W ReLU(W x)))                   all pixels at once, two hidden layers
//   cnn    x -> [conv 3 x 3, ReLU, mean of 2 x 2] twice -> p = softmax(W ReLU(W x))
// Neither has attention to show.
#pragma once

#include <memory>
#include <string>

#include "fovea/attention/projection.h"
#include "fovea/models/classifier.h"
#include "fovea/models/picture_input.h"

namespace fovea {

struct ImageBaselineOptions {
  std::string name = "plain";
  int64_t hidden = 256;
  int64_t filters = 16;  // of the first convolution; the second has twice as many
  void describe(OptionList& list);
  bool is_cnn() const { return name == "cnn"; }
};

/// A convolution that keeps the size, with weight [out, in, 3, 3] as PyTorch lays it out.
class Convolution : public torch::nn::Module {
 public:
  Convolution(int64_t in, int64_t out);
  void initialise(const Random& random);
  at::Tensor forward(const at::Tensor& x) const;  // [B, in, H, W] -> [B, out, H, W]

  at::Tensor weight, bias;
};

class ImageBaseline : public Classifier {
 public:
  ImageBaseline(ImageBaselineOptions options, PictureInput input);
  const ImageBaselineOptions& options() const { return options_; }
  const PictureInput& input() const { return input_; }

  void initialise(const Random& random) override;
  Schema schema() const override { return input_.schema(); }
  std::vector<LayerSummary> summary() const override;

 protected:
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;

 private:
  ImageBaselineOptions options_;
  PictureInput input_;
  std::shared_ptr<Convolution> first_filters_, second_filters_;  // cnn
  std::shared_ptr<Projection> first_, second_, classify_;        // second: plain
};

}  // namespace fovea
