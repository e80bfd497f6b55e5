// Pictures in another size. Each direction by itself: where it shrinks, a new pixel is the mean of
// the area that it covers; where it grows, it lies between the two nearest old ones (bilinear,
// pixel centres at i + 1/2).
#pragma once

#include <string>
#include <vector>

#include "fovea/data/images/image.h"

namespace fovea {

/// All of the picture in height x width, stretched where the shapes differ.
Image resize(const Image& image, int64_t height, int64_t width);

/// The largest middle part with the shape height x width, in that size.
Image resize_and_crop(const Image& image, int64_t height, int64_t width);

/// All of the picture in its own shape, in the middle of height x width; around it its mean colour.
Image letterbox(const Image& image, int64_t height, int64_t width);

/// One of fit_names(): "stretch" is resize(), "crop" resize_and_crop(), "letterbox" letterbox().
Image fit_image(const Image& image, int64_t height, int64_t width, const std::string& fit);
std::vector<std::string> fit_names();

}  // namespace fovea
