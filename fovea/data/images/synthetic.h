// Synthetic digits for the task `images`: drawn, not written by people. Each of the ten is a few
// strokes through control points that wobble; the whole is squeezed, slanted, turned and put at a
// random place; a pen of random thickness draws it, white on black, with smooth edges. Nothing has
// to be downloaded, and where the digit stands is known.
#pragma once

#include <cstdint>

#include "fovea/base/options.h"
#include "fovea/data/draw.h"
#include "fovea/data/images/labelled_image.h"

namespace fovea {

struct SyntheticImagesOptions : DrawOptions {
  SyntheticImagesOptions() { rows = 10000, validation_rows = 1000, test_rows = 1000; }
  int64_t side = 28;     // pixels of a picture in each direction
  double wobble = 0.04;  // deviation of the control points, as a share of the digit's height
  double slant = 0.3;    // most that a digit leans, to either side
  double turn = 0.15;    // most that it is turned, in radians
  void describe(OptionList& list);
};

/// InvalidArgument for numbers that cannot be.
SplitRows<LabelledImage> draw_images(const SyntheticImagesOptions& options);

/// One picture, uint8 [1, side, side].
at::Tensor draw_digit(int64_t digit, const SyntheticImagesOptions& options, const Random& random);

}  // namespace fovea
