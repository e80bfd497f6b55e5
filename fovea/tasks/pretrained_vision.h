// A vision transformer that was trained before: what `--from` begins with, and what a Hugging Face
// folder of ViTForImageClassification or ViTModel holds:
//   config.json               sizes, names of the classes
//   *.safetensors             the weights
//   preprocessor_config.json  how pictures are brought to their size and normalised; without it as
//                             ViTImageProcessor does: bilinear, mean and deviation 1/2
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/images/load.h"
#include "fovea/models/vision_transformer.h"
#include "fovea/models/weight_names.h"

namespace fovea {

struct PretrainedVision {
  VisionTransformerOptions options;
  ImageCoding coding;              // classes may be empty: there is no head
  std::string fit, resample;       // of pictures
  PatchGrid grid;                  // of the positions
  WeightMap weights;               // as VisionTransformer names them
  std::vector<std::string> notes;  // what was left out, one sentence each
};

/// From a Hugging Face folder, or from a run of images with model.name=vit. BadData names all
/// tensors that do not fit at once; Unsupported for another architecture.
PretrainedVision read_pretrained_vision(const std::filesystem::path& run_or_folder);

/// The sizes of `start`. InvalidArgument when `options` asks for others; dropout and augmentation
/// stay as they are.
void take_sizes(VisionTransformerOptions& options, const PretrainedVision& start);

/// The weights of `start`, its positions brought to the model's grid; `with_head`: the layer on top
/// too.
void take_weights(VisionTransformer& model, const PretrainedVision& start, bool with_head);

}  // namespace fovea
