// A permutation of 0 … count-1 by Fisher and Yates' shuffle:
//   for i = count-1 … 1: swap order[i] and order[j],  j = floor(u_i (i + 1) / 2^64)
// where the 64 random bits u_i are half a block of Philox, the first half for even i:
//   philox(i / 2, 0, key).  Every instruction set gives the same permutation.
#pragma once

#include <cstdint>

namespace fovea::kernels {

void random_permutation(uint64_t key, int64_t count, int64_t* order);

}  // namespace fovea::kernels
