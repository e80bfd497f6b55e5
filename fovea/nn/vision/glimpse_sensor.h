// The eye of the recurrent attention model (Mnih et al. 2014): square patches around one place of a
// picture, sharp in the middle and coarse around it.
//   place   (x, y) in [-1, 1]: (-1, -1) is the upper left corner of the picture, (0, 0) its middle
//   corner  floor((place + 1) / 2 * size + 1/2): the nearest corner between pixels
//   patch j side w 2^j around that corner, j = 0 … scales - 1; each of its w x w numbers is the
//   mean
//           of 2^j x 2^j pixels; outside of the picture everything is 0
// What comes out is [scales, channels, w, w], one after the other. There is no gradient with
// respect to places. On a CPU, bytes are read where they lie; floating pictures, gradients and
// other devices go through the means of all blocks, made once for a picture, and one gather for
// each glimpse.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace fovea {

struct GlimpseSensorOptions {
  int64_t patch = 8;   // w
  int64_t scales = 1;  // k
};

/// Pictures made ready for any number of glimpses.
struct Scene {
  at::Tensor pictures;  // [B, C, H, W], bytes 0 … 255 or floating
  at::Tensor layers;    // [B, k C H' W'], the means of all blocks with a margin of 0; or undefined
  at::Tensor offsets;   // [k C w w], where the numbers of a glimpse at the corner (0, 0) lie there
};

class GlimpseSensor {
 public:
  /// InvalidArgument for patches that cannot be.
  explicit GlimpseSensor(const GlimpseSensorOptions& options);
  const GlimpseSensorOptions& options() const { return options_; }

  /// Numbers of one glimpse: k C w w.
  int64_t size(int64_t channels) const;
  int64_t side(int64_t scale) const { return options_.patch << scale; }  // of its patch, in pixels

  /// Bytes stand for 0 … 1.
  Scene prepare(const at::Tensor& pictures) const;
  /// places [B, S, 2], floating -> [B, S, k C w w]: float32 of bytes, else as the pictures.
  at::Tensor see(const Scene& scene, const at::Tensor& places) const;

  /// How much of a glimpse's numbers comes from each cell of an even grid over the picture, as
  /// shares of what lies inside: places [..., 2] -> [..., rows * columns], float64.
  struct Grid {
    int64_t height, width, rows, columns;
  };
  at::Tensor coverage(const at::Tensor& places, const Grid& grid) const;

 private:
  int64_t half(int64_t scale) const { return side(scale) / 2; }
  int64_t stride_of_layers(int64_t pixels) const;
  at::Tensor see_bytes(const at::Tensor& pictures, const at::Tensor& corners) const;
  GlimpseSensorOptions options_;
};

/// places [..., 2] -> int64 [..., 2], each 0 … width or height.
at::Tensor corners_of(const at::Tensor& places, int64_t height, int64_t width);

}  // namespace fovea
