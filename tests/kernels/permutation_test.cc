#include "fovea/kernels/permutation/permutation.h"

#include <numeric>

#include "fovea/kernels/philox.h"
#include "tests/kernels/testing.h"

namespace fovea::kernels::permutation_test {
namespace {

/// The formula of the header, one draw after the other.
std::vector<int64_t> shuffled(uint64_t key, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (auto i = static_cast<uint64_t>(count); i-- > 1;) {
    const PhiloxBlock block = philox(i / 2, 0, key);
    const uint32_t* words = block.words + i % 2 * 2;
    const auto bits = static_cast<unsigned __int128>(uint64_t{words[0]} << 32 | words[1]);
    std::swap(order[i], order[static_cast<size_t>(bits * (i + 1) >> 64)]);
  }
  return order;
}

TEST(Permutation, IsTheShuffleOfTheFormulaOnEveryInstructionSet) {
  for (const int64_t count : {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 511, 512, 1000, 70'001})
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      std::vector<int64_t> order(static_cast<size_t>(count) + 1, -7);  // one that nobody may touch
      random_permutation(0x123456789abcdef0u + uint64_t(count), count, order.data());
      EXPECT_EQ(order.back(), -7);
      order.pop_back();
      EXPECT_EQ(order, shuffled(0x123456789abcdef0u + uint64_t(count), count))
          << count << ", " << name_of(set);
    }
}

}  // namespace
}  // namespace fovea::kernels::permutation_test
