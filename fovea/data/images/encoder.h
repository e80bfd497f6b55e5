// Pictures with a class, for the task `images`, and what is made of them before a network looks:
//   plain       the picture as it is
//   translated  at a random place of a larger black canvas
//   cluttered   there too, among square pieces cut out of other pictures at random places
// In training every step makes new views; a validation or test row keeps the one that its number
// and the seed decide. Where the object is, is known: the smallest box around all that is not dark.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/images/image.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct ViewOptions {
  std::string view = "plain";
  int64_t canvas = 60;       // height and width of it
  int64_t clutter = 4;       // pieces
  int64_t clutter_size = 8;  // pixels of a piece in each direction
  bool is_plain() const { return view == "plain"; }
  void describe(OptionList& list);
};

/// What a network is given.
struct PictureShape {
  int64_t channels = 1, height = 0, width = 0;
  /// Cells that pictures of attention, and what erases, count in.
  int64_t grid_rows() const;
  int64_t grid_columns() const;
  int64_t cells() const { return grid_rows() * grid_columns(); }
  bool operator==(const PictureShape&) const = default;
};

/// The shape of views of such pictures. InvalidArgument where the canvas is too small for them.
PictureShape shape_of_views(const PictureShape& pictures, const ViewOptions& options);

/// As shares of the picture, from its left and its top.
struct Box {
  double left = 0, top = 0, right = 1, bottom = 1;
};

/// Examples around a picture.
struct PictureEncoder {
  PictureShape shape;
  int64_t glimpses = 0;                       // of a network that takes some
  int64_t patch_rows = 0, patch_columns = 0;  // of a network that sees patches behind a class token

  /// The tensor "image" uint8 [C, H, W]; axes "glimpses", "picture" and "cells", or "patches".
  /// `shown` is the picture for people, where it is sharper than what the network sees.
  Example example(const at::Tensor& picture, const Image* shown = nullptr) const;
  /// Marks the cells that the box touches as what matters in each glimpse of the map "looks".
  void plant_truth(const Box& box, Example& example) const;
  /// Cells or patches become the mean colour of the picture; a class token stays. Unsupported for
  /// another axis.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const;
};

class ImageDataset : public Dataset {
 public:
  /// pixels: uint8 [N, channels, height, width]; `targets` are the classes' numbers.
  /// `knows_objects`: what is not dark is the object.
  ImageDataset(const at::Tensor& pixels, std::vector<int64_t> targets, const ViewOptions& options,
               PictureEncoder encoder, const Random& random, bool knows_objects);
  int64_t size() const override { return int64_t(targets_.size()); }
  bool has_truth() const override { return knows_objects_; }
  Json input(int64_t row) const override;

  Example example(int64_t row) const override;
  /// "image" uint8 [B, C, H, W], "target" int64 [B] and, where objects are known, "box" float [B,
  /// 4]: left, top, right and bottom.
  Batch batch(std::span<const int64_t> rows) const override;
  Batch augmented_batch(std::span<const int64_t> rows, const Random& random) const override;

 private:
  /// In pixels of a picture; none is before `left` or from `right` on.
  struct Ink {
    int64_t left = 0, top = 0, right = 0, bottom = 0;
  };
  using Draws = std::vector<Random>;  // one per row of a batch

  Ink ink_of(int64_t row) const;
  Batch batch_of(std::span<const int64_t> rows, const Draws& draws) const;
  /// Draws the view into zeros, uint8 [C, H, W].
  Box draw_view(int64_t row, const Random& random, uint8_t* view) const;
  void draw_clutter(int64_t row, const Random& random, uint8_t* view) const;

  at::Tensor pixels_;
  PictureShape pictures_;  // before they become views
  std::vector<int64_t> targets_;
  ViewOptions options_;
  PictureEncoder encoder_;
  Random random_;
  bool knows_objects_;
  std::vector<Ink> ink_;  // of each row, where objects are known
};

}  // namespace fovea
