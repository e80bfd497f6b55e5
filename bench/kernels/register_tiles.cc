#include "bench/kernels/register_tiles.h"

#include <chrono>
#include <vector>

#include "fovea/kernels/instruction_set.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma")
#define FOVEA_LANES 16
#include "fovea/kernels/gemm-inl.h"

namespace fovea::kernels {

double register_tile_speed() {
  if (best_instruction_set() != InstructionSet::Avx512) return 0;
  constexpr int64_t kSize = 64, kRounds = 200;
  std::vector<float> a(kSize * kSize, 0.5f), b(a), c(a);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t round = 0; round < kRounds; ++round)
    multiply<float, Left::RowMajor, Into::Fresh>(a.data(), kSize, b.data(), kSize, c.data(), kSize,
                                                 kSize, kSize / kWidth<float>, kSize);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return 2.0 * kSize * kSize * kSize * kRounds / took.count();
}

}  // namespace fovea::kernels
#else
namespace fovea::kernels {

double register_tile_speed() {
  return 0;
}

}  // namespace fovea::kernels
#endif
