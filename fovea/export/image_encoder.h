// nn/vision/image_encoder.h as nodes.
#pragma once

#include "fovea/export/weights.h"
#include "fovea/nn/vision/image_encoder.h"

namespace fovea::onnx {

/// images float [B, 3, S, S], 0 to 255 -> [B, cells, D]. `weights` are the encoder's.
Value encode_images(const ImageEncoderOptions& options, const Weights& weights,
                    const Value& images);

}  // namespace fovea::onnx
