// The curves of gates and states on vectors: compiled once per instruction set.
#pragma once

#include "fovea/kernels/vectors-inl.h"

namespace {

/// Exponents whose powers of two, and 1 added to these, are floats; NaN for NaN.
inline Lanes within_floats(Lanes exponent) {
  return smaller(all(126.0f), larger(all(-126.0f), exponent));
}

/// 1 / (1 + e^-x)
inline Lanes sigmoid(Lanes x) {
  const PowerOfTwo e(within_floats(x * all(-1.44269504f)));
  return all(1.0f) / (all(1.0f) + (e.whole + e.whole * e.above_1));
}

/// m / (m + 2) for m = e^2x - 1, which keeps the relative accuracy of small numbers.
inline Lanes hyperbolic_tangent(Lanes x) {
  const PowerOfTwo e(within_floats(x * all(2.88539008f)));
  const Lanes m = e.whole * e.above_1 + (e.whole - all(1.0f));
  return m / (m + all(2.0f));
}

/// e^2x. Of such powers tanh(x + y) costs a product and a division, not an exponential; it is right
/// to 1e-7 where neither |x| nor |y| is above kMostRisen, so that both powers are floats.
constexpr float kMostRisen = 43.0f;
inline Lanes risen(Lanes x) {
  const PowerOfTwo e(within_floats(x * all(2.88539008f)));
  return e.whole + e.whole * e.above_1;
}
inline Lanes tangent_of_sum(Lanes risen_x, Lanes risen_y) {
  return all(1.0f) - all(2.0f) / (all(1.0f) + risen_x * risen_y);
}

/// y' from y, of the sigmoid and of tanh.
inline Lanes sigmoid_slope(Lanes y) {
  return y * (all(1.0f) - y);
}
inline Lanes tangent_slope(Lanes y) {
  return all(1.0f) - y * y;
}

}  // namespace
