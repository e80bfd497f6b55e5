// Body of cross-entropy, compiled once per instruction set. See cross_entropy.h for the formulas.
#include "fovea/kernels/columns-inl.h"
#include "fovea/kernels/cross_entropy.h"

namespace {

using fovea::kernels::CrossEntropyRows;
using fovea::kernels::CrossEntropyShape;
using fovea::kernels::kCrossEntropyRows;

struct Extent {
  float largest, total;
};

Extent extent_of(const float* x, int64_t classes) {
  Accumulator total;
  Lanes largest[kSlots];
  for (Lanes& slot : largest) slot = all(x[0]);
  for_columns(
      classes,
      [&](int64_t c, int64_t slot) {
        const Lanes lanes = load(x + c);
        largest[slot] = larger(largest[slot], lanes);
        total.slots[slot] += lanes;
      },
      [&](int64_t c, int64_t count) {
        total.slots[0] += load(x + c, count);
        for (int64_t i = 0; i < count; ++i) largest[1] = larger(largest[1], all(x[c + i]));
      });
  const Lanes most = larger(larger(largest[0], largest[1]), larger(largest[2], largest[3]));
  float highest = most[0];
  for (int64_t i = 1; i < kLanes; ++i) highest = most[i] > highest ? most[i] : highest;
  return {highest, total.total()};
}

/// e^(x - largest), kept in `powers` unless that is null; the sum.
template <bool keep>
float sum_of_powers(const float* x, int64_t classes, float largest, float* powers) {
  Accumulator total;
  for_columns(
      classes,
      [&](int64_t c, int64_t slot) {
        const Lanes power = exponential(load(x + c) - all(largest));
        if constexpr (keep) store(powers + c, power);
        total.slots[slot] += power;
      },
      [&](int64_t c, int64_t count) {
        const Lanes power = first_of(exponential(load(x + c, count) - all(largest)), count);
        if constexpr (keep) store(powers + c, power, count);
        total.slots[0] += power;
      });
  return total.total();
}

/// values = values * factor - offset
void scale(float* values, int64_t count, float factor, float offset) {
  for_columns(
      count,
      [&](int64_t c, int64_t) { store(values + c, load(values + c) * all(factor) - all(offset)); },
      [&](int64_t c, int64_t rest) {
        store(values + c, load(values + c, rest) * all(factor) - all(offset), rest);
      });
}

/// The loss of one row, times its share; fills its gradient unless that is null.
double loss_of_row(const CrossEntropyShape& shape, const float* x, int64_t target, double share,
                   float* gradient) {
  const int64_t classes = shape.classes;
  const double smoothing = shape.smoothing, at_target = x[target];
  const Extent extent = extent_of(x, classes);
  const float sum = gradient ? sum_of_powers<true>(x, classes, extent.largest, gradient)
                             : sum_of_powers<false>(x, classes, extent.largest, nullptr);
  if (gradient) {
    scale(gradient, classes, static_cast<float>(share / sum),
          static_cast<float>(share * smoothing / static_cast<double>(classes)));
    gradient[target] -= static_cast<float>(share * (1 - smoothing));
  }
  double loss = extent.largest + __builtin_log(sum) - (1 - smoothing) * at_target;
  if (smoothing > 0) loss -= smoothing * extent.total / static_cast<double>(classes);
  return share * loss;
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

double cross_entropy(const CrossEntropyShape& shape, int64_t part, const CrossEntropyRows& at) {
  const int64_t end = (part + 1) * kCrossEntropyRows;
  double loss = 0;
  for (int64_t row = part * kCrossEntropyRows; row < (end < shape.rows ? end : shape.rows); ++row) {
    const int64_t begin = row * shape.classes;
    float* gradient = at.gradient ? at.gradient + begin : nullptr;
    if (at.shares[row] != 0)
      loss += loss_of_row(shape, at.logits + begin, at.targets[row], at.shares[row], gradient);
    else if (gradient)
      __builtin_memset(gradient, 0, static_cast<uint64_t>(shape.classes) * sizeof(float));
  }
  return loss;
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
