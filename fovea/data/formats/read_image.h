// PNG and JPEG files as pictures, through libpng and libjpeg-turbo. What a file is, its first bytes
// say, not its name. Its sizes are checked before anything is allocated: a few hundred bytes can
// claim to be gigapixels. docs/formats/images.md lists what is read and what is refused.
//   PNG   every colour type and depth, interlaced or not; 16 bits become 8; of an animated file
//         (APNG) the first picture; what is see-through lies on the background
//   JPEG  baseline and progressive; CMYK and YCCK (Adobe's, inverted or not) become three colours
//         without a colour profile; the camera's turn (EXIF orientation) is undone
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fovea/data/images/image.h"

namespace fovea {

struct ReadImageOptions {
  int64_t channels = 3;                // 3: red, green, blue; 1: grey
  int64_t largest_image = 40'000'000;  // most pixels, width times height: data.largest_image
  int64_t largest_file = 256'000'000;  // most bytes
  uint8_t background = 255;            // grey level behind what is see-through
};

/// The picture in a file. NotFound, Io; BadData for what is no picture or a broken one; Unsupported
/// for another kind of picture, and in a build without the two libraries.
Image read_image(const std::filesystem::path& path, const ReadImageOptions& options = {});

/// The same of a file's bytes; `where` names them in an error.
Image decode_image(std::string_view bytes, const std::string& where,
                   const ReadImageOptions& options = {});

/// Whether this build can read pictures.
bool can_read_images();

/// The picture as a PNG file.
std::string encode_png(const Image& image);

}  // namespace fovea
