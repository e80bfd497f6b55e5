// Pictures cut into the cells of a grid: labels for them, and pictures without some of them.
#pragma once

#include <span>
#include <string>

#include "fovea/tensor/example.h"

namespace fovea {

/// The axis of a grid over the picture `media`: "row 1, column 1", …
Axis cell_axis(const std::string& name, int64_t rows, int64_t columns, const std::string& media);

/// The picture, uint8 [C, height, width], with these cells in its mean colour. `axis` is one of
/// cell_axis().
Example erase_cells(const Example& example, const std::string& tensor, const Axis& axis,
                    std::span<const int64_t> units);

}  // namespace fovea
