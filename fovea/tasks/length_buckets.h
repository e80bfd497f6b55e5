// Rows grouped by the length of their source, for curves over length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

struct LengthBucket {
  std::string label;  // "6-10"
  std::vector<size_t> rows;
};

/// Equal steps of 1, 2, 5, 10, … so that there are at most ten, from the shortest to the longest;
/// the last one also holds the rare longest rows (the longest hundredth).
std::vector<LengthBucket> length_buckets(std::span<const int64_t> lengths);

}  // namespace fovea
