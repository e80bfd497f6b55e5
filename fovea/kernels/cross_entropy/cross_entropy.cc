#include "fovea/kernels/cross_entropy/cross_entropy.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/simd.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

struct Extent {
  float largest, total;
};

Extent extent_of(const float* x, int64_t classes) {
  Accumulator total;
  Lanes most[kSlots];
  for (Lanes& slot : most) slot = broadcast(x[0]);
  for_columns(classes, [&](int64_t c, int64_t slot, auto lanes) {
    const Lanes now = load(x + c, lanes);
    most[slot] = max(most[slot], with_others(now, lanes, most[slot]));
    total.slots[slot] += now;
  });
  return {largest(max(max(most[0], most[1]), max(most[2], most[3]))), total.total()};
}

/// e^(x - largest), left in `powers` unless that is null; the sum.
template <bool kSave>
float sum_of_powers(const float* x, int64_t classes, float largest, float* powers) {
  Accumulator total;
  for_columns(classes, [&](int64_t c, int64_t slot, auto lanes) {
    const Lanes power = zero_others(exp(load(x + c, lanes) - broadcast(largest)), lanes);
    if constexpr (kSave) store(powers + c, power, lanes);
    total.slots[slot] += power;
  });
  return total.total();
}

/// values = values * factor - offset
void scale(float* values, int64_t count, float factor, float offset) {
  for_columns(count, [&](int64_t c, int64_t, auto lanes) {
    store(values + c, load(values + c, lanes) * broadcast(factor) - broadcast(offset), lanes);
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

double loss_of_rows(const CrossEntropyShape& shape, int64_t slice, const CrossEntropyRows& at) {
  const SliceRows rows(slice, kCrossEntropyRows, shape.rows);
  double loss = 0;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t begin = row * shape.classes;
    float* gradient = at.gradient ? at.gradient + begin : nullptr;
    if (at.shares[row] != 0)
      loss += loss_of_row(shape, at.logits + begin, at.targets[row], at.shares[row], gradient);
    else if (gradient)
      fill_row(gradient, shape.classes, 0);
  }
  return loss;
}

}  // namespace

struct CrossEntropyTable {
  decltype(&cross_entropy) loss_of_rows;
};
FOVEA_TABLE(CrossEntropyTable, loss_of_rows)

#ifdef FOVEA_ENTRY_POINTS

double cross_entropy(const CrossEntropyShape& shape, int64_t slice, const CrossEntropyRows& at) {
  return table().loss_of_rows(shape, slice, at);
}

#endif

}  // namespace fovea::kernels
