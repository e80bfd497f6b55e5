// nn/vision/image_encoder.h as nodes, and pictures as inputs.
#pragma once

#include "fovea/export/weights.h"
#include "fovea/models/picture_input.h"
#include "fovea/nn/vision/image_encoder.h"

namespace fovea::onnx {

/// images float [B, 3, S, S], 0 to 255 -> [B, cells, D]. `weights` are the encoder's.
Value encode_images(const ImageEncoderOptions& options, const Weights& weights,
                    const Value& images);

/// The blocks of the small encoder alone, after normalising. x [B, C, height, width], `blocks` of
/// `convolutions` each.
Value convolution_blocks(const Weights& weights, Value x, int64_t blocks, int64_t convolutions);

/// The input "image" of networks that give a picture a class.
Port image_port(const PictureInput& input);

}  // namespace fovea::onnx
