// A small batch of sequences for models that read one and write another.
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/tensor/example.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

constexpr int64_t kSource = 9, kTarget = 8;  // symbols, special ones included

/// Row b: source of 1 to 6 symbols, target its reverse shifted by one, padded by `extra` columns.
inline Batch text_batch(int64_t rows, int64_t extra = 0) {
  const Random random(5);
  int64_t longest = 1;
  std::vector<std::vector<int64_t>> sources;
  for (int64_t row = 0; row < rows; ++row) {
    const Random own = random.split(uint64_t(row));
    const auto length = int64_t(own.below(0, 6)) + 1;
    longest = std::max(longest, length);
    sources.emplace_back();
    for (int64_t i = 0; i < length; ++i)
      sources.back().push_back(4 + int64_t(own.below(uint64_t(i) + 1, 4)));
  }
  Batch batch;
  batch.size = rows;
  auto source = torch::zeros({rows, longest + extra}, torch::kLong);
  auto target = torch::zeros({rows, longest + 1 + extra}, torch::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const auto& symbols = sources[size_t(row)];
    const auto length = int64_t(symbols.size());
    for (int64_t i = 0; i < length; ++i) {
      source[row][i] = symbols[size_t(i)];
      target[row][length - 1 - i] = symbols[size_t(i)];
    }
    target[row][length] = 3;
  }
  batch.tensors = {{"source", source},
                   {"source.keep", source != 0},
                   {"target", target},
                   {"target.keep", target != 0}};
  return batch;
}

}  // namespace fovea::testing
