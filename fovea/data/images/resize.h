// Pictures in another size, each direction by itself, pixel centres at i + 1/2:
//   area      where it shrinks, a new pixel is the mean of the area that it covers; where it grows,
//   it
//             lies between the two nearest old ones
//   nearest, bilinear, bicubic, lanczos
//             what PIL means by them: old pixels weighted by a triangle, a cubic (a = -1/2) or a
//             sinc windowed to 3, which widen as the picture shrinks. For networks trained so
#pragma once

#include <string>
#include <vector>

#include "fovea/data/images/image.h"

namespace fovea {

/// Names of the above.
std::vector<std::string> filter_names();

/// All of the picture in height x width, stretched where the shapes differ. `filter` of
/// filter_names().
Image resize(const Image& image, int64_t height, int64_t width, const std::string& filter = "area");

/// The largest crop at the centre with the shape height x width, in that size.
Image resize_and_crop(const Image& image, int64_t height, int64_t width,
                      const std::string& filter = "area");

/// How many of its pixels fit_image() leaves out: those that "crop" cuts off.
int64_t pixels_left_out(const Image& image, int64_t height, int64_t width, const std::string& fit);

/// All of the picture in its own shape, in the middle of height x width; around it its mean colour.
Image letterbox(const Image& image, int64_t height, int64_t width,
                const std::string& filter = "area");

/// One of fit_names(): "stretch" is resize(), "crop" resize_and_crop(), "letterbox" letterbox().
Image fit_image(const Image& image, int64_t height, int64_t width, const std::string& fit,
                const std::string& filter = "area");
std::vector<std::string> fit_names();

}  // namespace fovea
