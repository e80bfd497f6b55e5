// Dropout: y = x / (1 - rate) where an element is kept, 0 where it is dropped, whatever stood
// there. Which are dropped is a function of (key, row, column) alone, so nobody stores a mask:
// backward is the same call on the gradient. Element (row, column) is dropped when its word is
// below round(rate 2^32); the word is number (column % 64 / 16) of the Philox block (philox.h) with
//   counter_low = column / 64 * 16 + column % 16,  counter_high = row,
// so that one block serves four columns and 16 blocks side by side give 64 columns in order.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct Dropout {
  uint64_t key = 0;
  uint32_t threshold = 0;  // round(rate 2^32); 0: everything is kept
  float scale = 1;         // 1 / (1 - rate)

  Dropout() = default;
  Dropout(double rate, uint64_t key);  // rate in [0, 1)
};

/// x and y: [rows, columns], rows first_row … first_row + rows - 1 of a whole. y may be x.
void dropout(const Dropout& dropout, const float* x, int64_t first_row, int64_t rows,
             int64_t columns, float* y);

}  // namespace fovea::kernels
