// One decoder for each kind of file; read_image.h chooses. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "fovea/data/formats/read_image.h"

namespace fovea {

Image decode_png(std::string_view bytes, const std::string& where, const ReadImageOptions& options);
Image decode_jpeg(std::string_view bytes, const std::string& where,
                  const ReadImageOptions& options);

/// Throws unless a picture of that size may be read.
void check_image_size(int64_t width, int64_t height, const std::string& where,
                      const ReadImageOptions& options);

/// What the EXIF block of a JPEG (a marker's bytes) says of how the camera was held: 1 … 8, 1 where
/// it says nothing that can be understood.
int exif_orientation(std::string_view marker);

/// The picture as it should be looked at, of one that a camera held so stored.
Image turned(const Image& image, int orientation);

}  // namespace fovea
