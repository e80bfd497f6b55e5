// Pictures with a class each, as every reader of them gives them: all of one size, as bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

#include "fovea/data/source.h"

namespace fovea {

struct LabelledImages {
  at::Tensor pixels;                // uint8 [N, channels, height, width]
  std::vector<std::string> labels;  // N

  int64_t size() const { return int64_t(labels.size()); }
};

struct SplitImages {
  std::array<LabelledImages, kSplitCount> parts;  // one that is not there has no rows
  std::string hash;
  std::vector<std::string> notes;
};

}  // namespace fovea
