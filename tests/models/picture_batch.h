// Small pictures for the tests of networks that classify them: noise with a bright patch whose
// place is the class.
#pragma once

#include "fovea/models/picture_input.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

inline PictureInput picture_input() {
  return {
      .classes = 3, .channels = 1, .height = 12, .width = 12, .grid_rows = 3, .grid_columns = 3};
}

inline Batch picture_batch(int64_t rows) {
  const at::Tensor image =
      Random(7).uniform_tensor({rows, 1, 12, 12}, 0, 120, torch::kFloat).to(torch::kByte);
  const at::Tensor target = torch::arange(rows) % 3;
  for (int64_t row = 0; row < rows; ++row)
    image[row][0].slice(0, 4, 9).slice(1, 4 * (row % 3), 4 * (row % 3) + 4).fill_(250);
  return {{{"image", image}, {"target", target}}, rows};
}

}  // namespace fovea::testing
