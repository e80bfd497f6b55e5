// The backward pass of attention over edges: first what belongs to targets, then what belongs to
// sources.
#pragma once

#include "fovea/kernels/graph_attention/rows-inl.h"

namespace fovea::kernels {
namespace {

template <class Rows>
struct BackwardTargets {
  static void run(const GraphAttention& g, int64_t slice, const GraphBackward& at) {
    const SliceRows rows(slice, kGraphRows, g.targets);
    float* sums = at.target_sums + slice * Rows::row(g);
    if (g.score == GraphScore::GatV2) fill_row(sums, Rows::row(g), 0);
    if (g.score == GraphScore::Uniform) return;
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      through_softmax(g, i, at);
      if (g.score == GraphScore::Gat)
        through_sum(g, i, at);
      else
        through_query(g, i, at, sums);
    }
  }

 private:
  static constexpr int64_t kHeads = Rows::kHeads;

  /// From the gradient of o_i to those of the e_ij.
  static void through_softmax(const GraphAttention& g, int64_t i, const GraphBackward& at) {
    const int64_t heads = Rows::heads(g), row = Rows::row(g);
    float total[kMostGraphHeads];
    fill_row(total, heads, 0);
    for (int64_t e = g.begin[i]; e < g.begin[i + 1]; ++e) {
      float* own = at.edges + e * heads;
      head_products<Rows>(g, at.out + i * row, at.values + g.source[e] * row, own);
      if (at.keep)
        map_row<kHeads>(
            heads, own, [](auto d, auto m) { return d * m; }, own, at.keep + e * heads);
      map_row<kHeads>(
          heads, total, [](auto t, auto d, auto w) { return t + d * w; }, total, own,
          at.weights + e * heads);
    }
    for (int64_t e = g.begin[i]; e < g.begin[i + 1]; ++e) {
      float* own = at.edges + e * heads;
      map_row<kHeads>(
          heads, own, [](auto d, auto t, auto w) { return w * (d - t); }, own, total,
          at.weights + e * heads);
    }
  }

  /// gat: through leaky to the sum of two scores.
  static void through_sum(const GraphAttention& g, int64_t i, const GraphBackward& at) {
    const int64_t heads = Rows::heads(g);
    const float slope = g.slope, *p = at.target_scores + i * heads;
    float* total = at.target_scores_gradient + i * heads;
    fill_row(total, heads, 0);
    for (int64_t e = g.begin[i]; e < g.begin[i + 1]; ++e) {
      float* own = at.edges + e * heads;
      map_row<kHeads>(
          heads, own, [=](auto d, auto l, auto r) { return leaky_gradient(l + r, d, slope); }, own,
          p, at.source_scores + g.source[e] * heads);
      map_row<kHeads>(
          heads, total, [](auto t, auto d) { return t + d; }, total, own);
    }
  }

  /// gatv2: the gradients of y_i and of a.
  static void through_query(const GraphAttention& g, int64_t i, const GraphBackward& at,
                            float* sums) {
    const int64_t heads = Rows::heads(g), width = Rows::width(g), row = Rows::row(g);
    const float slope = g.slope;
    float* to = at.queries_gradient + i * row;
    fill_row(to, row, 0);
    for (int64_t e = g.begin[i]; e < g.begin[i + 1]; ++e)
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t c = h * width;
        const float d = at.edges[e * heads + h];
        const float *y = at.queries + i * row + c, *z = at.states + g.source[e] * row + c;
        map_row<Rows::kColumns>(
            width, to + c,
            [=](auto t, auto v, auto q, auto k) { return t + leaky_gradient(q + k, v * d, slope); },
            to + c, at.to_target + c, y, z);
        map_row<Rows::kColumns>(
            width, sums + c, [=](auto t, auto q, auto k) { return t + leaky(q + k, slope) * d; },
            sums + c, y, z);
      }
  }
};

template <class Rows>
struct BackwardSources {
  static void run(const GraphAttention& g, int64_t slice, const GraphBackward& at) {
    const SliceRows rows(slice, kGraphRows, g.sources);
    const int64_t row = Rows::row(g);
    float* sums = at.source_sums + slice * 2 * row;
    if (g.score == GraphScore::Gat) fill_row(sums, 2 * row, 0);
    for (int64_t j = rows.begin; j < rows.end; ++j) {
      float *states = at.states_gradient + j * row,
            *values = at.values_gradient ? at.values_gradient + j * row : states;
      fill_row(states, row, 0);
      if (values != states) fill_row(values, row, 0);
      gather_values(g, j, at, values);
      if (g.score == GraphScore::Gat) gather_scores(g, j, at, states, sums);
      if (g.score == GraphScore::GatV2) gather_keys(g, j, at, states);
    }
  }

 private:
  /// work(e) for the edges of source j.
  template <class Work>
  static void for_edges(const GraphAttention& g, int64_t j, Work work) {
    const int64_t edges = g.edges();
    for (int64_t place = g.out_begin[j]; place < g.out_begin[j + 1]; ++place) {
      if (g.out_edge[place] >= edges) return;
      work(g.out_edge[place]);
    }
  }

  static void gather_values(const GraphAttention& g, int64_t j, const GraphBackward& at,
                            float* values) {
    const int64_t heads = Rows::heads(g);
    RowSum<Rows> sum(g, values);
    for_edges(g, j, [&](int64_t e) {
      sum.add(at.out + g.target[e] * Rows::row(g), at.weights + e * heads,
              at.keep ? at.keep + e * heads : nullptr);
    });
    sum.finish();
  }

  /// gat: a . z_i and b . z_j.
  static void gather_scores(const GraphAttention& g, int64_t j, const GraphBackward& at,
                            float* states, float* sums) {
    const int64_t heads = Rows::heads(g), width = Rows::width(g), row = Rows::row(g);
    float total[kMostGraphHeads];
    fill_row(total, heads, 0);
    for_edges(g, j, [&](int64_t e) {
      map_row<Rows::kHeads>(
          heads, total, [](auto t, auto d) { return t + d; }, total, at.edges + e * heads);
    });
    const float* z = at.states + j * row;
    const float* own = j < g.targets ? at.target_scores_gradient + j * heads : nullptr;
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t c = h * width;
      add_scaled<Rows>(width, states + c, at.to_source + c, total[h]);
      add_scaled<Rows>(width, sums + row + c, z + c, total[h]);
      if (!own) continue;
      add_scaled<Rows>(width, states + c, at.to_target + c, own[h]);
      add_scaled<Rows>(width, sums + c, z + c, own[h]);
    }
  }

  /// gatv2: z_j as what was looked at.
  static void gather_keys(const GraphAttention& g, int64_t j, const GraphBackward& at,
                          float* states) {
    const int64_t heads = Rows::heads(g), width = Rows::width(g), row = Rows::row(g);
    const float slope = g.slope;
    for_edges(g, j, [&](int64_t e) {
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t c = h * width;
        const float d = at.edges[e * heads + h];
        map_row<Rows::kColumns>(
            width, states + c,
            [=](auto t, auto v, auto q, auto k) { return t + leaky_gradient(q + k, v * d, slope); },
            states + c, at.to_target + c, at.queries + g.target[e] * row + c,
            at.states + j * row + c);
      }
    });
  }
};

}  // namespace
}  // namespace fovea::kernels
