// The likeliest of many symbols, straight from the output layer: neither scores nor probabilities
// of all symbols are stored.
//   x = h W^T + b        log p_c = x_c - log sum_k e^(x_k)
//   best: the `count` symbols with the largest x, best first; of equals the smaller symbol
// Forbidden symbols count in the sum and are never among the best. Where fewer symbols are left
// than `count`, the rest are 0 with log p = -inf. A score that is NaN or +inf makes all log p of
// its row NaN.
#pragma once

#include <cstdint>

#include "fovea/kernels/packed_product/packed_product.h"

namespace fovea::kernels {

constexpr int64_t kBestSymbolsRows = 128;  // rows of one slice

struct BestSymbolsShape {
  PackedShape layer;  // D inputs, V outputs
  int64_t rows = 0, count = 0;
  const int64_t* forbidden = nullptr;
  int64_t forbidden_count = 0;

  int64_t slices() const { return (rows + kBestSymbolsRows - 1) / kBestSymbolsRows; }
};

struct BestSymbolsRows {
  const float* packed;       // of pack_matrix()
  const float* hidden;       // h [rows, D]
  float* log_probabilities;  // [rows, count]
  int64_t* symbols;          // [rows, count]
};

void best_symbols(const BestSymbolsShape& shape, int64_t slice, const BestSymbolsRows& at);

}  // namespace fovea::kernels
