// What the tensors of ViT are called in Hugging Face's files (weight_names.h), of a network without
// convolutions in front.
#pragma once

#include <vector>

#include "fovea/models/vision_transformer.h"
#include "fovea/models/weight_names.h"

namespace fovea {

/// Of the encoder, without the prefix "vit.". `patches`: rows times columns.
std::vector<WeightNames> vision_encoder_names(const VisionTransformerOptions& options,
                                              int64_t channels, int64_t patches);
/// Of the layer on top.
std::vector<WeightNames> vision_head_names(int64_t hidden, int64_t classes);

}  // namespace fovea
