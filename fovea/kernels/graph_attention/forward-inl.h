// The forward pass of attention over edges.
#pragma once

#include "fovea/kernels/graph_attention/rows-inl.h"

namespace fovea::kernels {
namespace {

template <class Rows>
struct Scores {
  static void run(const GraphAttention& g, int64_t slice, const GraphForward& at) {
    const SliceRows rows(slice, kGraphRows, g.sources);
    for (int64_t j = rows.begin; j < rows.end; ++j) {
      const float* z = at.states + j * Rows::row(g);
      head_products<Rows>(g, z, at.to_source, at.source_scores + j * Rows::heads(g));
      if (j < g.targets)
        head_products<Rows>(g, z, at.to_target, at.target_scores + j * Rows::heads(g));
    }
  }
};

template <class Rows>
struct Forward {
  static void run(const GraphAttention& g, int64_t slice, const GraphForward& at) {
    const SliceRows rows(slice, kGraphRows, g.targets);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      weigh(g, i, at);
      mix(g, i, at);
    }
  }

 private:
  static constexpr int64_t kHeads = Rows::kHeads;

  static void weigh(const GraphAttention& g, int64_t i, const GraphForward& at) {
    const int64_t heads = Rows::heads(g), begin = g.begin[i], count = g.begin[i + 1] - begin;
    float* weights = at.weights + begin * heads;
    if (g.score == GraphScore::Uniform)
      return fill_row(weights, count * heads, 1.0f / static_cast<float>(count));
    for (int64_t k = 0; k < count; ++k) score(g, i, g.source[begin + k], at, weights + k * heads);
    softmax(heads, count, weights);
  }

  static void score(const GraphAttention& g, int64_t i, int64_t j, const GraphForward& at,
                    float* scores) {
    const int64_t heads = Rows::heads(g), width = Rows::width(g);
    const float slope = g.slope;
    if (g.score == GraphScore::Gat) {
      map_row<kHeads>(
          heads, scores, [=](auto p, auto q) { return leaky(p + q, slope); },
          at.target_scores + i * heads, at.source_scores + j * heads);
      return;
    }
    const float *y = at.queries + i * Rows::row(g), *z = at.states + j * Rows::row(g),
                *a = at.to_target;
    for (int64_t h = 0; h < heads; ++h, y += width, z += width, a += width)
      scores[h] = sum_row<Rows::kColumns>(
          width, [=](auto v, auto q, auto k) { return v * leaky(q + k, slope); }, a, y, z);
  }

  /// In place over [count, H], each head for itself.
  static void softmax(int64_t heads, int64_t count, float* weights) {
    if (count == 0) return;
    float most[kMostGraphHeads], total[kMostGraphHeads];
    const auto for_edges = [&](auto work) {
      for (int64_t k = 0; k < count; ++k) work(weights + k * heads);
    };
    map_row<kHeads>(
        heads, most, [](auto w) { return w; }, weights);
    for_edges([&](float* own) {
      map_row<kHeads>(
          heads, most, [](auto m, auto w) { return m > w ? m : w; }, most, own);
    });
    for_edges([&](float* own) {
      map_row<kHeads>(
          heads, own, [](auto w, auto m) { return w - m; }, own, most);
    });
    for_columns(count * heads, [&](int64_t c, int64_t, auto lanes) {
      store(weights + c, exp(load(weights + c, lanes)), lanes);
    });
    fill_row(total, heads, 0);
    for_edges([&](const float* own) {
      map_row<kHeads>(
          heads, total, [](auto t, auto w) { return t + w; }, total, own);
    });
    map_row<kHeads>(
        heads, total, [](auto t) { return 1.0f / t; }, total);
    for_edges([&](float* own) {
      map_row<kHeads>(
          heads, own, [](auto w, auto t) { return w * t; }, own, total);
    });
  }

  static void mix(const GraphAttention& g, int64_t i, const GraphForward& at) {
    const int64_t heads = Rows::heads(g), row = Rows::row(g);
    fill_row(at.out + i * row, row, 0);
    RowSum<Rows> sum(g, at.out + i * row);
    for (int64_t e = g.begin[i]; e < g.begin[i + 1]; ++e)
      sum.add(at.values + g.source[e] * row, at.weights + e * heads,
              at.keep ? at.keep + e * heads : nullptr);
    sum.finish();
  }
};

}  // namespace
}  // namespace fovea::kernels
