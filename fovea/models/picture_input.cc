#include "fovea/models/picture_input.h"

#include <algorithm>

#include "fovea/tensor/torch.h"

namespace fovea {

Schema PictureInput::schema() const {
  return {{"image", at::kByte, {-1, channels, height, width}}, {"target", at::kLong, {-1}}};
}

std::vector<int64_t> PictureInput::cell_of_pixels() const {
  std::vector<int64_t> cells;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      cells.push_back(((y + 1) * grid_rows - 1) / height * grid_columns +
                      ((x + 1) * grid_columns - 1) / width);
  return cells;
}

at::Tensor PictureInput::numbers(const at::Tensor& image, at::ScalarType type, Tap* tap,
                                 const std::string& axis, int64_t first) const {
  const at::Tensor plain =
      image.scalar_type() == at::kByte ? image.to(type) / 255 : image.to(type);  // [B, C, H, W]
  if (!tap) return plain;
  const at::Tensor pixels = plain.flatten(2).transpose(1, 2);  // [B, H W, C]
  std::vector<int64_t> units = cell_of_pixels();
  for (int64_t& unit : units) unit += first;
  return tap->leaf(axis, pixels, std::move(units)).transpose(1, 2).reshape(plain.sizes());
}

std::vector<uint64_t> numbers_of_pictures(const at::Tensor& images) {
  const at::Tensor bytes = images.to(at::kCPU).contiguous();
  const int64_t size = bytes.numel() / std::max<int64_t>(1, bytes.size(0));
  std::vector<uint64_t> numbers;
  for (int64_t row = 0; row < bytes.size(0); ++row) {
    uint64_t number = 0xcbf29ce484222325ull;
    const uint8_t* byte = bytes.data_ptr<uint8_t>() + row * size;
    for (int64_t i = 0; i < size; ++i) number = (number ^ byte[i]) * 0x100000001b3ull;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace fovea
