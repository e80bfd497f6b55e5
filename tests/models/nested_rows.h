// Rows of lists of numbers, the sentences of documents and the visits of patients.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "fovea/tensor/random.h"

namespace fovea::testing {

using NestedRow = std::vector<std::vector<int64_t>>;

struct NestedSizes {
  int64_t lists = 0, numbers = 0;  // of the row that has most
};

inline NestedSizes largest_row(const std::vector<NestedRow>& rows) {
  NestedSizes most;
  for (const NestedRow& row : rows) {
    int64_t numbers = 0;
    for (const auto& list : row) numbers += int64_t(list.size());
    most.numbers = std::max(most.numbers, numbers);
    most.lists = std::max(most.lists, int64_t(row.size()));
  }
  return most;
}

/// Rows of 1 to `most` lists. Their sizes and numbers are drawn from a stream for each list, the
/// number at place i with counter 1 + i.
inline std::vector<NestedRow> draw_nested(
    int64_t rows, const Random& random, uint64_t most,
    const std::function<size_t(const Random&, size_t list)>& size,
    const std::function<int64_t(const Random&, uint64_t counter)>& number) {
  std::vector<NestedRow> drawn;
  for (int64_t row = 0; row < rows; ++row) {
    const Random lists = random.split(uint64_t(row));
    NestedRow& own = drawn.emplace_back(1 + lists.below(0, most));
    for (size_t i = 0; i < own.size(); ++i) {
      const Random numbers = lists.split(uint64_t(i));
      own[i].resize(size(numbers, i));
      for (size_t n = 0; n < own[i].size(); ++n) own[i][n] = number(numbers, 1 + n);
    }
  }
  return drawn;
}

}  // namespace fovea::testing
