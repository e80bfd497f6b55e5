#include "fovea/data/images/erase_cells.h"

#include <ATen/ATen.h>

#include "fovea/base/error.h"

namespace fovea {

Axis cell_axis(const std::string& name, int64_t rows, int64_t columns, const std::string& media) {
  Axis axis{name, "cell", {}};
  for (int64_t row = 1; row <= rows; ++row)
    for (int64_t column = 1; column <= columns; ++column)
      axis.labels.push_back(concat("row ", row, ", column ", column));
  axis.grid_rows = rows;
  axis.grid_columns = columns;
  axis.media = media;
  return axis;
}

Example erase_cells(const Example& example, const std::string& tensor, const Axis& axis,
                    std::span<const int64_t> units) {
  const auto found = example.tensors.find(tensor);
  require(found != example.tensors.end(), ErrorKind::Internal, "the example has no tensor '",
          tensor, "' to erase cells of");
  Example erased = example;
  at::Tensor image = found->second.clone();  // [C, height, width]
  const at::Tensor mean =
      image.to(at::kFloat).mean({1, 2}, true).round().to(at::kByte);  // [C, 1, 1]
  const int64_t height = image.size(1), width = image.size(2);
  for (const int64_t unit : units) {
    require(unit >= 0 && unit < axis.grid_rows * axis.grid_columns, ErrorKind::InvalidArgument,
            "unit ", unit, " cannot be erased; there are ", axis.grid_rows * axis.grid_columns);
    const int64_t row = unit / axis.grid_columns, column = unit % axis.grid_columns;
    const int64_t top = row * height / axis.grid_rows, bottom = (row + 1) * height / axis.grid_rows,
                  left = column * width / axis.grid_columns,
                  right = (column + 1) * width / axis.grid_columns;
    image.slice(1, top, bottom)
        .slice(2, left, right)
        .copy_(mean.expand({image.size(0), bottom - top, right - left}));
  }
  erased.tensors[tensor] = image;
  return erased;
}

}  // namespace fovea
