// Pictures a little different at every step of a training, drawn from counter-based random numbers
// and on the device where the pictures are: a training that is resumed sees the same ones again.
//   shift  the whole picture moves; what enters at the border repeats it
//   crop   a crop at any place is stretched over the whole
//   flip   left and right change places, for every other picture. Not harmless where words say
//          "left"
#pragma once

#include <ATen/core/Tensor.h>

#include "fovea/base/options.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct ImageAugmentOptions {
  double shift = 0;  // at most, as a share of the side
  double crop = 0;   // at most, the share of the side that is cut off
  bool flip = false;
  void describe(OptionList& list);
};

/// images [B, C, height, width], floating -> the same shape
at::Tensor augment_images(const at::Tensor& images, const ImageAugmentOptions& options,
                          const Random& random);

}  // namespace fovea
