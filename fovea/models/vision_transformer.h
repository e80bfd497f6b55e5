// ViT, Dosovitskiy et al. 2021: a picture is cut into patches, which look at each other:
//   z_0 = [c; E x_1; …; E x_N] + positions               nn/vision/patch_embedding.h
//   z_l = pre-norm Transformer layers with GELU over z_0, then a norm
//   p   = softmax(W z_L of the class token c + b)
// The map "attention", one a layer, goes from the axis "patches" (the class token first) to itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/attention/projection.h"
#include "fovea/models/classifier.h"
#include "fovea/models/picture_input.h"
#include "fovea/nn/transformer/transformer_stack.h"
#include "fovea/nn/vision/image_augment.h"
#include "fovea/nn/vision/patch_embedding.h"

namespace fovea {

struct VisionTransformerOptions {
  std::string name = "vit";
  int64_t patch = 0;         // 0: an eighth of the longer side, 16 at most
  int64_t convolutions = 2;  // 0: the paper's linear patches
  int64_t layers = 4;
  int64_t hidden = 64;  // D
  int64_t heads = 4;
  int64_t feed_forward = 0;  // 0: 4 D
  double dropout = 0.1;
  double attention_dropout = 0;
  double epsilon = 1e-6;
  std::string mean = "0.5", deviation = "0.5";  // of pixels of 0 … 1: one number, or one a channel
  ImageAugmentOptions augment;
  std::string pruned_heads;  // attention/pruned_heads.h; the map is "attention"
  VisionTransformerOptions();
  void describe(OptionList& list);
};

/// How a picture is cut.
struct PatchGrid {
  int64_t patch = 1;   // pixels of a side
  int64_t blocks = 0;  // convolutions in front: as many as are asked for and a patch can be halved
  int64_t rows = 1, columns = 1;
};

/// InvalidArgument where the picture is smaller than a patch, or has too many.
PatchGrid patch_grid(const VisionTransformerOptions& options, int64_t height, int64_t width);

class VisionTransformer : public Classifier {
 public:
  /// The grid of the input is that of patch_grid().
  VisionTransformer(VisionTransformerOptions options, PictureInput input);
  const VisionTransformerOptions& options() const { return options_; }
  const PictureInput& input() const { return input_; }
  const PatchEmbedding& patches() const { return *patches_; }

  void initialise(const Random& random) override;
  Schema schema() const override { return input_.schema(); }
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  std::vector<HeadBlock> head_blocks() const override { return encoder_->head_blocks(kMap); }

  /// Pictures as the network wants them, [B, C, H, W] -> the last layer's states [B, 1 + N, D].
  at::Tensor encode(const at::Tensor& pixels, const Random* random, Tap* tap) const;
  /// The class of each picture by its class token: [B, 1 + N, D] -> logits [B, classes].
  at::Tensor classify(const at::Tensor& states) const;
  /// Of mean and deviation: [1, C, 1, 1].
  struct Normalisation {
    at::Tensor mean, deviation;
  };
  const Normalisation& normalisation() const { return normalisation_; }

  static constexpr const char* kMap = "attention";
  static constexpr const char* kAxis = "patches";

 protected:
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;

 private:
  VisionTransformerOptions options_;
  PictureInput input_;
  Normalisation normalisation_;
  std::shared_ptr<PatchEmbedding> patches_;
  std::shared_ptr<TransformerEncoder> encoder_;
  std::shared_ptr<Projection> output_;
};

}  // namespace fovea
