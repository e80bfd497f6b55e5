// A picture as bytes: [height, width, channels], row by row from the top left, 0 dark to 255
// bright. One channel is grey, three are red, green, blue. What was see-through in the file lies on
// a background.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct Image {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;  // height * width * channels
  bool animated = false;        // its file holds more pictures: this is the first

  uint8_t& at(int64_t y, int64_t x, int64_t channel) {
    return pixels[size_t((y * width + x) * channels + channel)];
  }
  uint8_t at(int64_t y, int64_t x, int64_t channel) const {
    return pixels[size_t((y * width + x) * channels + channel)];
  }
};

/// A picture of one colour, black unless said otherwise.
Image make_image(int64_t height, int64_t width, int64_t channels, uint8_t value = 0);

/// uint8 [channels, height, width] and back.
at::Tensor tensor_of(const Image& image);
Image image_of(const at::Tensor& pixels);

}  // namespace fovea
