#include "fovea/data/images/image_input.h"

#include "fovea/base/data_url.h"
#include "fovea/data/media_input.h"

namespace fovea {

namespace {

const MediaInput kImage{"image", "image/png", "a PNG or JPEG file"};

}  // namespace

Image image_of_input(const std::string& line, const ReadImageOptions& options) {
  const MediaFile file = file_of_input(line, kImage, options.largest_file);
  return decode_image(file.bytes, file.where, options);
}

Json image_input_schema() {
  return media_input_schema(kImage);
}

Json image_input(std::string_view png) {
  return {{kImage.property, data_url(kImage.type, "", png)}};
}

}  // namespace fovea
