#include "fovea/metrics/dynamic_ngrams.h"

#include <array>

#include "fovea/base/error.h"

namespace fovea {

std::vector<double> optimal_ngrams(std::span<const int64_t> bits, int64_t order) {
  constexpr int64_t kMostContextBits = 30;
  const int64_t context_bits = order - 1;
  require(order >= 1 && context_bits <= kMostContextBits, ErrorKind::InvalidArgument,
          "N-grams of N = ", order, " cannot be counted; expected 1 to ", kMostContextBits + 1);
  const uint64_t mask = (uint64_t{1} << context_bits) - 1;
  std::vector<std::array<double, 2>> counts(size_t(mask) + 1);
  std::vector<double> guesses;
  uint64_t context = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    const bool has_context = int64_t(i) >= context_bits;
    auto& own = counts[size_t(context)];
    guesses.push_back(has_context ? (own[1] + 0.5) / (own[0] + own[1] + 1) : 0.5);
    if (has_context) ++own[size_t(bits[i] != 0)];
    context = ((context << 1) | uint64_t(bits[i] != 0)) & mask;
  }
  return guesses;
}

}  // namespace fovea
