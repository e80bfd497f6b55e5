#include "fovea/nn/vision/glimpse_sensor.h"

#include <algorithm>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kMostPatch = 1024, kMostScales = 8;
constexpr int64_t kGlimpsesTogether = 256;  // of one thread

/// One picture and one patch of it.
struct Patch {
  const uint8_t* pixels;  // [height, width]
  int64_t height, width;
  int64_t left, top;      // of the patch; either may lie outside
  int64_t numbers, zoom;  // w, and pixels of a block in each direction
};

/// The means of the blocks, w x w. `sums` has room for one row of pixels of the patch.
void read_patch(const Patch& patch, float* out, int32_t* sums) {
  const int64_t side = patch.numbers * patch.zoom;
  const int64_t first = std::clamp<int64_t>(-patch.left, 0, side);
  const int64_t last = std::clamp<int64_t>(patch.width - patch.left, first, side);
  const float scale = 1 / (255.0f * float(patch.zoom * patch.zoom));
  for (int64_t row = 0; row < patch.numbers; ++row) {
    std::fill_n(sums, side, 0);
    for (int64_t y = patch.top + row * patch.zoom; y < patch.top + (row + 1) * patch.zoom; ++y) {
      if (y < 0 || y >= patch.height) continue;
      const uint8_t* line = patch.pixels + y * patch.width;
      for (int64_t x = first; x < last; ++x) sums[x] += line[patch.left + x];
    }
    for (int64_t column = 0; column < patch.numbers; ++column) {
      int32_t sum = 0;
      for (int64_t x = 0; x < patch.zoom; ++x) sum += sums[column * patch.zoom + x];
      *out++ = float(sum) * scale;
    }
  }
}

/// How much of [start, start + length) lies in each of `cells` even parts of [0, size): start
/// [...], float64 -> [..., cells].
Tensor overlaps(const Tensor& start, int64_t length, int64_t size, int64_t cells) {
  const Tensor edges =
      torch::arange(cells + 1, start.options()) * (double(size) / double(cells));  // [cells + 1]
  const Tensor begin = start.unsqueeze(-1);                                        // [..., 1]
  const Tensor low = torch::maximum(begin, edges.narrow(0, 0, cells));
  const Tensor high = torch::minimum(begin + double(length), edges.narrow(0, 1, cells));
  return (high - low).clamp_min(0);
}

}  // namespace

Tensor corners_of(const Tensor& places, int64_t height, int64_t width) {
  const auto nearest = [](const Tensor& some, int64_t pixels) {
    return ((some + 1) * (double(pixels) / 2) + 0.5).floor().to(torch::kLong);
  };
  if (height == width) return nearest(places, width);
  return torch::stack({nearest(places.select(-1, 0), width), nearest(places.select(-1, 1), height)},
                      -1);
}

GlimpseSensor::GlimpseSensor(const GlimpseSensorOptions& options) : options_(options) {
  require(options.patch >= 1 && options.patch <= kMostPatch && options.scales >= 1 &&
              options.scales <= kMostScales,
          ErrorKind::InvalidArgument, "glimpses of ", options.scales, " patches of ", options.patch,
          " x ", options.patch, " numbers cannot be; 1 to ", kMostScales, " and 1 to ", kMostPatch,
          " can");
}

int64_t GlimpseSensor::size(int64_t channels) const {
  return options_.scales * channels * options_.patch * options_.patch;
}

/// Rows or columns of a layer: the picture with room for the largest patch around every corner.
int64_t GlimpseSensor::stride_of_layers(int64_t pixels) const {
  return pixels + side(options_.scales - 1);
}

Scene GlimpseSensor::prepare(const Tensor& pictures) const {
  require(pictures.dim() == 4, ErrorKind::Internal, "pictures of shape ", pictures.sizes(),
          ", expected [B, C, H, W]");
  const bool bytes = pictures.scalar_type() == torch::kByte;
  if (bytes && pictures.is_cpu()) return {pictures.contiguous(), {}, {}};
  const int64_t channels = pictures.size(1), w = options_.patch, last = options_.scales - 1;
  const int64_t height = stride_of_layers(pictures.size(2));
  const int64_t width = stride_of_layers(pictures.size(3));
  const int64_t before = half(last), after = side(last) - before;
  const Tensor values = bytes ? pictures.to(torch::kFloat) / 255 : pictures;
  const Tensor framed = torch::constant_pad_nd(values, {before, after, before, after});
  std::vector<Tensor> layers, offsets;
  const Tensor steps = torch::arange(w, torch::kLong);
  for (int64_t scale = 0; scale <= last; ++scale) {
    const int64_t zoom = int64_t{1} << scale, start = before - half(scale);
    const Tensor means =
        zoom == 1 ? framed : torch::avg_pool2d(framed, {zoom, zoom}, /*stride=*/{1, 1});
    layers.push_back(torch::constant_pad_nd(means, {0, zoom - 1, 0, zoom - 1}));
    const Tensor line = start + zoom * steps;                            // [w]
    const Tensor patch = line.unsqueeze(1) * width + line.unsqueeze(0);  // [w, w]
    for (int64_t channel = 0; channel < channels; ++channel)
      offsets.push_back((patch + (scale * channels + channel) * height * width).flatten());
  }
  return {pictures, torch::cat(layers, 1).flatten(1), torch::cat(offsets).to(pictures.device())};
}

Tensor GlimpseSensor::see(const Scene& scene, const Tensor& places) const {
  const int64_t height = scene.pictures.size(2), width = scene.pictures.size(3);
  require(places.dim() == 3 && places.size(0) == scene.pictures.size(0) && places.size(2) == 2,
          ErrorKind::Internal, "places of shape ", places.sizes(), " on pictures ",
          scene.pictures.sizes());
  const Tensor corners = corners_of(places.detach(), height, width);  // [B, S, 2]
  if (!scene.layers.defined()) return see_bytes(scene.pictures, corners);
  const Tensor base =
      corners.select(2, 1) * stride_of_layers(width) + corners.select(2, 0);  // [B, S]
  const Tensor index = (base.unsqueeze(2) + scene.offsets).flatten(1);        // [B, S k C w w]
  return scene.layers.gather(1, index).view({places.size(0), places.size(1), -1});
}

Tensor GlimpseSensor::see_bytes(const Tensor& pictures, const Tensor& corners) const {
  const int64_t channels = pictures.size(1), height = pictures.size(2), width = pictures.size(3);
  const int64_t per_picture = corners.size(1), count = corners.size(0) * per_picture;
  const int64_t w = options_.patch, numbers = size(channels);
  const Tensor seen = torch::empty({corners.size(0), per_picture, numbers});
  const Tensor flat = corners.contiguous();
  run_parallel((count + kGlimpsesTogether - 1) / kGlimpsesTogether, [&](int64_t slice) {
    std::vector<int32_t> sums(size_t(side(options_.scales - 1)));
    const int64_t end = std::min(count, (slice + 1) * kGlimpsesTogether);
    for (int64_t i = slice * kGlimpsesTogether; i < end; ++i) {
      const int64_t* corner = flat.data_ptr<int64_t>() + 2 * i;
      const uint8_t* picture =
          pictures.data_ptr<uint8_t>() + i / per_picture * channels * height * width;
      float* out = seen.data_ptr<float>() + i * numbers;
      for (int64_t scale = 0; scale < options_.scales; ++scale)
        for (int64_t channel = 0; channel < channels; ++channel, out += w * w)
          read_patch({picture + channel * height * width, height, width, corner[0] - half(scale),
                      corner[1] - half(scale), w, int64_t{1} << scale},
                     out, sums.data());
    }
  });
  return seen;
}

Tensor GlimpseSensor::coverage(const Tensor& places, const Grid& grid) const {
  const Tensor corners = corners_of(places.detach(), grid.height, grid.width).to(torch::kDouble);
  Tensor sum;
  for (int64_t scale = 0; scale < options_.scales; ++scale) {
    const Tensor start = corners - double(half(scale));  // [..., 2]
    const Tensor columns = overlaps(start.select(-1, 0), side(scale), grid.width, grid.columns);
    const Tensor rows = overlaps(start.select(-1, 1), side(scale), grid.height, grid.rows);
    const double numbers_per_pixel = 1 / double(int64_t{1} << (2 * scale));
    const Tensor own = (rows.unsqueeze(-1) * columns.unsqueeze(-2)).flatten(-2) * numbers_per_pixel;
    sum = sum.defined() ? sum + own : own;  // [..., rows * columns]
  }
  return sum / sum.sum(-1, /*keepdim=*/true).clamp_min(1e-12);
}

}  // namespace fovea
