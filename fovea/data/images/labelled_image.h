// A picture with a class, as every reader of such gives it.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace fovea {

struct LabelledImage {
  at::Tensor pixels;  // uint8 [channels, height, width]; those of a split have one size
  std::string label;
};

}  // namespace fovea
