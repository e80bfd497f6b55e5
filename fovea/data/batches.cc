#include "fovea/data/batches.h"

#include <algorithm>

namespace fovea {

namespace {

using Batches = std::vector<std::vector<int64_t>>;

/// Cuts rows into batches, in the given order.
void cut(const Dataset& rows, std::span<const int64_t> order, const BatchOptions& options,
         Batches& batches) {
  std::vector<int64_t> batch;
  int64_t longest = 0;
  for (const int64_t row : order) {
    const int64_t length = options.batch_tokens > 0 ? std::max(longest, rows.length(row)) : 0;
    const auto after = static_cast<int64_t>(batch.size()) + 1;
    const bool full = options.batch_tokens > 0 ? after * length > options.batch_tokens
                                               : after > options.batch_size;
    if (full && !batch.empty()) {
      batches.push_back(std::move(batch));
      batch.clear();
      longest = 0;
    }
    batch.push_back(row);
    longest = options.batch_tokens > 0 ? std::max(longest, rows.length(row)) : 0;
  }
  if (!batch.empty()) batches.push_back(std::move(batch));
}

/// Rows that about so many batches hold.
int64_t pool_rows(const Dataset& rows, std::span<const int64_t> order,
                  const BatchOptions& options) {
  if (options.batch_tokens == 0) return options.pool_batches * options.batch_size;
  int64_t total = 0;
  for (const int64_t row : order) total += rows.length(row);
  const int64_t mean = std::max<int64_t>(1, total / std::max<int64_t>(1, int64_t(order.size())));
  return std::max<int64_t>(1, options.pool_batches * options.batch_tokens / mean);
}

}  // namespace

Batches plan_batches(const Dataset& rows, std::span<const int64_t> order,
                     const BatchOptions& options, const Random& random) {
  Batches batches;
  if (options.pool_batches == 0) {
    cut(rows, order, options, batches);
    return batches;
  }
  const auto pool = static_cast<size_t>(pool_rows(rows, order, options));
  for (size_t begin = 0; begin < order.size(); begin += pool) {
    const auto part = order.subspan(begin, std::min(pool, order.size() - begin));
    std::vector<int64_t> sorted(part.begin(), part.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t left, int64_t right) {
      return rows.length(left) < rows.length(right);
    });
    cut(rows, sorted, options, batches);
  }
  if (!options.shuffle) return batches;
  Batches shuffled;
  for (const int64_t i : random.permutation(static_cast<int64_t>(batches.size())))
    shuffled.push_back(std::move(batches[static_cast<size_t>(i)]));
  return shuffled;
}

}  // namespace fovea
