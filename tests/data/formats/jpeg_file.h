// JPEG files for tests, by libjpeg's own encoder.
#pragma once

#include <string>

#include "fovea/data/images/image.h"

namespace fovea::testing {

struct JpegFile {
  bool progressive = false;
  bool inks = false;    // CMYK, of a picture with four channels
  bool adobe = true;    // inks: with Adobe's marker, which means inverted
  int orientation = 0;  // EXIF; 0: none
};

std::string make_jpeg(const Image& image, const JpegFile& file = {});

}  // namespace fovea::testing
