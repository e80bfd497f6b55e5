// Body of dropout, compiled once per instruction set.
#include "fovea/kernels/dropout_lanes-inl.h"

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void dropout(const Dropout& dropout, const float* x, int64_t first_row, int64_t rows,
             int64_t columns, float* y) {
  for (int64_t row = first_row; row < first_row + rows; ++row, x += columns, y += columns)
    for_columns_with_words(
        dropout.key, row, columns,
        [&](int64_t c, int64_t, WordLanes words) {
          store(y + c, kept(dropout, words, load(x + c)));
        },
        [&](int64_t c, int64_t count, WordLanes words) {
          store(y + c, kept(dropout, words, load(x + c, count)), count);
        });
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
