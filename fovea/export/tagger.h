// What every tagger puts out.
#pragma once

#include "fovea/export/weights.h"

namespace fovea {

/// By the layer "output" of the model, whose rows are the tags.
inline onnx::Port tags_port(const onnx::Weights& parameters) {
  return {"log_probabilities",
          onnx::ElementType::Float,
          {"batch", "words", parameters.tensor("output.weight").size(0)},
          "of each tag, in the order of the run's tags"};
}

}  // namespace fovea
