// Small batches for models of the copy task.
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/tensor/example.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

using Symbols = std::vector<int64_t>;

/// Side by side, with `extra` steps of padding at the end.
inline Batch symbols_batch(const std::vector<Symbols>& sequences, int64_t bits, int64_t extra = 0) {
  int64_t wide = 0;
  for (const Symbols& symbols : sequences) wide = std::max(wide, 2 * int64_t(symbols.size()) + 1);
  wide += extra;
  const auto rows = int64_t(sequences.size());
  const at::Tensor inputs = torch::zeros({rows, wide, bits + 1});
  const at::Tensor target = torch::zeros({rows, wide, bits});
  const at::Tensor keep = torch::zeros({rows, wide}, torch::kBool);
  for (int64_t row = 0; row < rows; ++row) {
    const Symbols& symbols = sequences[size_t(row)];
    const auto count = int64_t(symbols.size());
    inputs[row][count][bits] = 1;
    for (int64_t i = 0; i < count; ++i) {
      keep[row][count + 1 + i] = true;
      for (int64_t bit = 0; bit < bits; ++bit) {
        inputs[row][i][bit] = double((symbols[size_t(i)] >> bit) & 1);
        target[row][count + 1 + i][bit] = double((symbols[size_t(i)] >> bit) & 1);
      }
    }
  }
  return {{{"inputs", inputs}, {"target", target}, {"target.keep", keep}}, rows};
}

/// Sequences of 1 to 4 symbols.
inline Batch copy_batch(int64_t rows, int64_t bits, int64_t extra = 0) {
  std::vector<Symbols> sequences;
  for (int64_t row = 0; row < rows; ++row) {
    const Random random = Random(3).split(uint64_t(row));
    Symbols symbols(1 + random.below(0, 4));
    for (size_t i = 0; i < symbols.size(); ++i)
      symbols[i] = int64_t(random.below(1 + i, uint64_t{1} << bits));
    sequences.push_back(std::move(symbols));
  }
  return symbols_batch(sequences, bits, extra);
}

}  // namespace fovea::testing
