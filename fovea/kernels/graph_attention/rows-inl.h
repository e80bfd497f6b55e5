// What the passes of attention over edges share. They are templates over a type Rows that says how
// long rows are: one number per head, H, and the D numbers of a head. The steps in which they are
// walked are known when it is compiled; so are the lengths themselves where rows are exactly a step
// long, as in the paper's 8 heads of 8.
#pragma once

#include "fovea/kernels/graph_attention/graph_attention.h"
#include "fovea/kernels/simd.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

template <int64_t kHeadStep, int64_t kColumnStep, bool kExact>
struct RowsOf {
  static constexpr int64_t kHeads = kHeadStep, kColumns = kColumnStep;
  static constexpr bool kIsExact = kExact;

  static int64_t heads(const GraphAttention& g) { return kExact ? kHeadStep : g.heads; }
  static int64_t width(const GraphAttention& g) { return kExact ? kColumnStep : g.width; }
  static int64_t row(const GraphAttention& g) { return heads(g) * width(g); }
};

template <class Number>
inline Number leaky(Number x, float slope) {
  return x > Number{} ? x : x * slope;
}
/// x where `at` > 0, else slope x: what leaky makes of a gradient.
template <class Number>
inline Number leaky_gradient(Number at, Number x, float slope) {
  return at > Number{} ? x : x * slope;
}

/// to += factor from, the D numbers of a head.
template <class Rows>
inline void add_scaled(int64_t width, float* to, const float* from, float factor) {
  map_row<Rows::kColumns>(
      width, to, [&](auto t, auto f) { return t + f * factor; }, to, from);
}

/// [H] = for each head the product of two rows [H D].
template <class Rows>
inline void head_products(const GraphAttention& g, const float* left, const float* right,
                          float* products) {
  const int64_t width = Rows::width(g);
  for (int64_t h = 0; h < Rows::heads(g); ++h, left += width, right += width)
    products[h] = sum_row<Rows::kColumns>(
        width, [](auto l, auto r) { return l * r; }, left, right);
}

/// A row [H D] that grows by rows of which every head has a factor of its own: in registers where
/// its length is known, else where it lies.
template <class Rows, bool kInRegisters>
class WeightedSum {
 public:
  WeightedSum(const GraphAttention& g, float* to) : g_(g), to_(to) {}
  /// factors [H], keep [H] or null
  void add(const float* row, const float* factors, const float* keep) {
    const int64_t width = Rows::width(g_);
    for (int64_t h = 0; h < Rows::heads(g_); ++h) {
      const float factor = keep ? factors[h] * keep[h] : factors[h];
      if (factor != 0) add_scaled<Rows>(width, to_ + h * width, row + h * width, factor);
    }
  }
  void finish() {}

 private:
  const GraphAttention& g_;
  float* to_;
};

template <class Rows>
class WeightedSum<Rows, true> {
 public:
  WeightedSum(const GraphAttention&, float* to) : to_(to) {
    for (int64_t h = 0; h < Rows::kHeads; ++h)
      sums_[h] = load<Rows::kColumns>(to + h * Rows::kColumns);
  }
  void add(const float* row, const float* factors, const float* keep) {
#pragma GCC unroll 8
    for (int64_t h = 0; h < Rows::kHeads; ++h) {
      const float factor = keep ? factors[h] * keep[h] : factors[h];
      sums_[h] += load<Rows::kColumns>(row + h * Rows::kColumns) * factor;
    }
  }
  void finish() {
    for (int64_t h = 0; h < Rows::kHeads; ++h)
      store<Rows::kColumns>(to_ + h * Rows::kColumns, sums_[h]);
  }

 private:
  Vector<Rows::kColumns> sums_[Rows::kHeads];
  float* to_;
};

template <class Rows>
using RowSum = WeightedSum<Rows, Rows::kIsExact>;

}  // namespace
}  // namespace fovea::kernels
