#include "fovea/kernels/permutation/permutation.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/philox-inl.h"

namespace fovea::kernels {
namespace {

constexpr int64_t kBlocksAtOnce = 128;  // of Philox: each serves two draws

/// The words of the blocks first … first + kBlocksAtOnce - 1, word n of all blocks in words[n].
void draw_blocks(uint64_t key, int64_t first, uint32_t words[4][kBlocksAtOnce]) {
  for (int64_t block = 0; block < kBlocksAtOnce; block += kLanes) {
    const PhiloxLanes drawn = philox_lanes(static_cast<uint64_t>(first + block), 0, key);
    for (int64_t n = 0; n < 4; ++n)
      __builtin_memcpy(words[n] + block, &drawn.words[n], sizeof drawn.words[n]);
  }
}

/// Swaps order[i] with one of order[0 … i].
inline void swap_down(int64_t* order, int64_t i, uint32_t high, uint32_t low) {
  const auto bits = static_cast<unsigned __int128>(uint64_t{high} << 32 | low);
  const auto j = static_cast<uint64_t>(bits * static_cast<uint64_t>(i + 1) >> 64);
  const int64_t moved = order[i];
  order[i] = order[j];
  order[j] = moved;
}

void permute(uint64_t key, int64_t count, int64_t* order) {
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  uint32_t words[4][kBlocksAtOnce];
  for (int64_t end = (count + 1) / 2; end > 0;) {  // blocks
    const int64_t begin = (end - 1) / kBlocksAtOnce * kBlocksAtOnce;
    draw_blocks(key, begin, words);
    for (int64_t block = end - 1; block >= begin; --block) {
      const int64_t at = block - begin;
      if (2 * block + 1 < count) swap_down(order, 2 * block + 1, words[2][at], words[3][at]);
      swap_down(order, 2 * block, words[0][at], words[1][at]);
    }
    end = begin;
  }
}

}  // namespace

struct PermutationTable {
  decltype(&random_permutation) permute;
};
FOVEA_TABLE(PermutationTable, permute)

#ifdef FOVEA_ENTRY_POINTS

void random_permutation(uint64_t key, int64_t count, int64_t* order) {
  table().permute(key, count, order);
}

#endif

}  // namespace fovea::kernels
