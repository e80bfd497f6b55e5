// Whole numbers that sizes of work are computed with. Internal linkage, since files of several
// instruction sets include it.
#pragma once

#include <stdint.h>

namespace fovea::kernels {
namespace {

/// Of any instruction set: numbers in a vector, columns of a packed panel, rows of a register tile.
constexpr int64_t kWidestVector = 16, kWidestPanel = 32, kTallestTile = 8;

constexpr int64_t max(int64_t a, int64_t b) {
  return a > b ? a : b;
}
constexpr int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}
constexpr int64_t ceil_div(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}
constexpr int64_t round_up(int64_t value, int64_t step) {
  return ceil_div(value, step) * step;
}

/// The rows of one slice of work, `size` rows each, of `rows` in all.
struct SliceRows {
  int64_t begin, end;

  constexpr SliceRows(int64_t slice, int64_t size, int64_t rows)
      : begin(slice * size), end(min(begin + size, rows)) {}
  constexpr int64_t count() const { return end - begin; }
};

}  // namespace
}  // namespace fovea::kernels
