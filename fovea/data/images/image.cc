#include "fovea/data/images/image.h"

#include <ATen/ops/empty.h>

#include <cstring>

#include "fovea/base/error.h"

namespace fovea {

Image make_image(int64_t height, int64_t width, int64_t channels, uint8_t value) {
  require(height >= 0 && width >= 0 && channels >= 1, ErrorKind::InvalidArgument, "no picture is ",
          width, " x ", height, " with ", channels, " channels");
  Image image{height, width, channels, {}};
  image.pixels.assign(size_t(height * width * channels), value);
  return image;
}

at::Tensor tensor_of(const Image& image) {
  at::Tensor pixels =
      at::empty({image.channels, image.height, image.width}, at::TensorOptions(at::kByte));
  const int64_t area = image.height * image.width;
  uint8_t* to = pixels.data_ptr<uint8_t>();
  for (int64_t place = 0; place < area; ++place)
    for (int64_t channel = 0; channel < image.channels; ++channel)
      to[channel * area + place] = image.pixels[size_t(place * image.channels + channel)];
  return pixels;
}

Image image_of(const at::Tensor& pixels) {
  require(pixels.dim() == 3 && pixels.scalar_type() == at::kByte, ErrorKind::Internal,
          "a picture is uint8 [channels, height, width], found ", pixels.sizes());
  const at::Tensor own = pixels.cpu().contiguous();
  Image image = make_image(own.size(1), own.size(2), own.size(0));
  const int64_t area = image.height * image.width;
  const uint8_t* from = own.data_ptr<uint8_t>();
  for (int64_t place = 0; place < area; ++place)
    for (int64_t channel = 0; channel < image.channels; ++channel)
      image.pixels[size_t(place * image.channels + channel)] = from[channel * area + place];
  return image;
}

}  // namespace fovea
