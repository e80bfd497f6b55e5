// The best that can be guessed of bits that follow from the N - 1 bits before them, when how likely
// a 1 is after each context comes from Beta(1/2, 1/2) (Murphy 2012; Graves et al. 2014):
//   p(1 | context) = (n1 + 1/2) / (n0 + n1 + 1)       n: how often it was followed by a 0, by a 1
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

/// p of a 1 at each place, from the bits before it alone; 1/2 where these are fewer than N - 1.
std::vector<double> optimal_ngrams(std::span<const int64_t> bits, int64_t order);

}  // namespace fovea
