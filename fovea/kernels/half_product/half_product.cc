#include "fovea/kernels/half_product/half_product.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/simd.h"

namespace fovea::kernels {
namespace {

constexpr int64_t kRowsTogether = 4;  // of x, for each weight that is read

typedef uint16_t HalfLanes __attribute__((vector_size(2 * FOVEA_LANES)));
typedef uint32_t WordLanes __attribute__((vector_size(4 * FOVEA_LANES)));

/// A bfloat16 is the upper half of a float.
inline Lanes widened(const uint16_t* from) {
  HalfLanes half;
  __builtin_memcpy(&half, from, sizeof half);
  return (Lanes)(__builtin_convertvector(half, WordLanes) << 16);
}

inline float widened_one(uint16_t half) {
  const uint32_t word = static_cast<uint32_t>(half) << 16;
  float number;
  __builtin_memcpy(&number, &word, sizeof number);
  return number;
}

/// One output of `Rows` rows of x.
template <int64_t Rows>
inline void dot_rows(const HalfProduct& of, int64_t row, int64_t output) {
  const uint16_t* weight = of.weight + output * of.in;
  const float* x = of.x + row * of.in;
  Lanes sums[Rows][kSlots] = {};
  int64_t i = 0;
  for (; i + kSlots * kLanes <= of.in; i += kSlots * kLanes)
#pragma GCC unroll 4
    for (int64_t slot = 0; slot < kSlots; ++slot) {
      const Lanes w = widened(weight + i + slot * kLanes);
      for (int64_t r = 0; r < Rows; ++r)
        sums[r][slot] += w * load(x + r * of.in + i + slot * kLanes);
    }
  for (; i + kLanes <= of.in; i += kLanes) {
    const Lanes w = widened(weight + i);
    for (int64_t r = 0; r < Rows; ++r) sums[r][0] += w * load(x + r * of.in + i);
  }
  for (int64_t r = 0; r < Rows; ++r) {
    const Lanes together = (sums[r][0] + sums[r][1]) + (sums[r][2] + sums[r][3]);
    float sum = of.bias ? of.bias[output] : 0;
    for (int64_t lane = 0; lane < kLanes; ++lane) sum += together[lane];
    for (int64_t k = i; k < of.in; ++k) sum += widened_one(weight[k]) * x[r * of.in + k];
    of.y[(row + r) * of.out + output] = sum;
  }
}

void multiply(const HalfProduct& of, int64_t first, int64_t last) {
  for (int64_t output = first; output < last; ++output) {
    int64_t row = 0;
    for (; row + kRowsTogether <= of.rows; row += kRowsTogether)
      dot_rows<kRowsTogether>(of, row, output);
    for (; row < of.rows; ++row) dot_rows<1>(of, row, output);
  }
}

}  // namespace

struct HalfProductTable {
  decltype(&half_product) multiply;
};
FOVEA_TABLE(HalfProductTable, multiply)

#ifdef FOVEA_ENTRY_POINTS

void half_product(const HalfProduct& of, int64_t first, int64_t last) {
  table().multiply(of, first, last);
}

#endif

}  // namespace fovea::kernels
