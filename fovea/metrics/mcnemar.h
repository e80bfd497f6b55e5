// Two models on the same rows: does one get more of them right than chance lets expect? Only rows
// count that one of them gets right and the other one wrong. The exact test of McNemar (1947):
// under chance each such row falls to either with probability 1/2, so
//   p = min(1, 2 P(X <= min(b, c))),  X ~ Binomial(b + c, 1/2).
#pragma once

#include <cstdint>

namespace fovea {

/// Two-sided; 1 without such rows.
double mcnemar_exact(int64_t only_first, int64_t only_second);

}  // namespace fovea
