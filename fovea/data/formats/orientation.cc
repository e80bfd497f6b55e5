// How a camera was held, from the EXIF block of a JPEG: "Exif\0\0", then a TIFF header and a list
// of numbered fields, of which one, 0x0112, is wanted. Every offset is checked before it is
// followed.
#include <utility>

#include "fovea/data/formats/image_decoders.h"

namespace fovea {

namespace {

constexpr std::string_view kExif{"Exif\0\0", 6};
constexpr uint32_t kOrientation = 0x0112, kFieldBytes = 12;

/// Numbers of a TIFF block, in its own byte order; 0 outside of it.
class Tiff {
 public:
  explicit Tiff(std::string_view bytes) : bytes_(bytes), little_(bytes.starts_with("II")) {}
  bool is_one() const {
    return bytes_.size() >= 8 && (little_ || bytes_.starts_with("MM")) && number(2, 2) == 42;
  }
  uint32_t number(size_t at, size_t size) const {
    if (at + size > bytes_.size()) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t place = little_ ? size - 1 - i : i;
      value = value << 8 | static_cast<unsigned char>(bytes_[at + place]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool little_;
};

}  // namespace

int exif_orientation(std::string_view marker) {
  if (!marker.starts_with(kExif)) return 1;
  const Tiff tiff(marker.substr(kExif.size()));
  if (!tiff.is_one()) return 1;
  const size_t fields = tiff.number(4, 4);
  const uint32_t count = tiff.number(fields, 2);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t field = fields + 2 + size_t(i) * kFieldBytes;
    if (tiff.number(field, 2) != kOrientation) continue;
    const uint32_t value = tiff.number(field + 8, 2);
    return value >= 1 && value <= 8 ? int(value) : 1;
  }
  return 1;
}

Image turned(const Image& image, int orientation) {
  if (orientation < 2 || orientation > 8) return image;
  // 5 … 8 lie on their side: rows and columns change places.
  const bool lies = orientation >= 5;
  const bool from_right =
                 orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8,
             from_below =
                 orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image result = make_image(lies ? image.width : image.height, lies ? image.height : image.width,
                            image.channels);
  result.animated = image.animated;
  for (int64_t y = 0; y < result.height; ++y)
    for (int64_t x = 0; x < result.width; ++x) {
      int64_t from_y = lies ? x : y, from_x = lies ? y : x;
      if (from_right) from_x = image.width - 1 - from_x;
      if (from_below) from_y = image.height - 1 - from_y;
      for (int64_t channel = 0; channel < image.channels; ++channel)
        result.at(y, x, channel) = image.at(from_y, from_x, channel);
    }
  return result;
}

}  // namespace fovea
