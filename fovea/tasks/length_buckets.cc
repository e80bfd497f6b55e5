#include "fovea/tasks/length_buckets.h"

#include <algorithm>

#include "fovea/base/text.h"

namespace fovea {

std::vector<LengthBucket> length_buckets(std::span<const int64_t> lengths) {
  if (lengths.empty()) return {};
  std::vector<int64_t> sorted(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end());
  const int64_t shortest = sorted.front(), longest = sorted.back();
  const int64_t usual = sorted[(sorted.size() * 99 - 1) / 100];  // of all but the longest hundredth
  int64_t step = 1;
  for (int64_t scale = 1; (usual - 1) / step - (shortest - 1) / step >= 10; scale *= 10)
    for (const int64_t factor : {1, 2, 5}) {
      step = factor * scale;
      if ((usual - 1) / step - (shortest - 1) / step < 10) break;
    }
  const auto place = [&](int64_t length) { return (std::max<int64_t>(length, 1) - 1) / step; };
  const int64_t first = place(shortest), last = place(usual);
  std::vector<LengthBucket> buckets;
  for (int64_t i = first; i <= last; ++i) {
    const int64_t low = i * step + 1, high = i == last ? std::max(longest, low) : (i + 1) * step;
    buckets.push_back({low == high ? concat(low) : concat(low, "-", high), {}});
  }
  for (size_t row = 0; row < lengths.size(); ++row)
    buckets[size_t(std::clamp(place(lengths[row]), first, last) - first)].rows.push_back(row);
  return buckets;
}

}  // namespace fovea
