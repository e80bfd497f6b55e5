// What all networks share that give a picture a class: what the data decides about them, and the
// pixels as numbers that gradients can be asked of.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/models/model.h"

namespace fovea {

struct PictureInput {
  int64_t classes = 2;
  int64_t channels = 1, height = 28, width = 28;
  int64_t grid_rows = 7, grid_columns = 7;  // units of the axis "cells": an even grid

  int64_t cells() const { return grid_rows * grid_columns; }
  /// The tensors "image" uint8 [B, C, H, W] and "target" int64 [B].
  Schema schema() const;
  /// The cell of each pixel, row by row; cell r begins at pixel floor(r size / cells).
  std::vector<int64_t> cell_of_pixels() const;
  /// image [B, C, H, W], bytes as 0 … 1 -> floating of that type; with a tap its leaf "cells".
  at::Tensor numbers(const at::Tensor& image, at::ScalarType type, Tap* tap) const {
    return numbers(image, type, tap, "cells", 0);
  }
  /// The leaf of another axis, whose unit `first` is the first cell.
  at::Tensor numbers(const at::Tensor& image, at::ScalarType type, Tap* tap,
                     const std::string& axis, int64_t first) const;
};

/// One number per picture, made from its bytes (FNV-1a): what is drawn for one does not depend on
/// its neighbours in a batch. images uint8 [B, …]
std::vector<uint64_t> numbers_of_pictures(const at::Tensor& images);

}  // namespace fovea
