// How an epoch's rows become batches. Rows of similar length are put together so that little is
// padding: the order is cut into pools, each pool is sorted by length and cut into batches, and the
// batches are shuffled (Bahdanau 2015 pools 20 batches). With a token budget a batch holds as many
// rows as fit: rows times the longest length among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct BatchOptions {
  int64_t batch_size = 32;   // rows; used when there is no token budget
  int64_t batch_tokens = 0;  // 0: no budget. A row longer than the budget is a batch of its own
  int64_t pool_batches = 0;  // 0: rows stay in the given order
  bool shuffle = true;       // of the batches, when rows were sorted
};

/// Every row of `order` once. Depends on nothing but the arguments.
std::vector<std::vector<int64_t>> plan_batches(const Dataset& rows, std::span<const int64_t> order,
                                               const BatchOptions& options, const Random& random);

}  // namespace fovea
