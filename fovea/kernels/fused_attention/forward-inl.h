// Fused attention, forward: a slice packs its queries once, then walks over the keys tile by tile.
// Per tile of 64 keys and 64 queries:
//   S^T = K Q^T      [64, 64]        K broadcast row by row, Q^T in the lanes
//   P^T = 2^(S^T - top)
//   O^T += V^T P^T   [Dv, 64]
#pragma once

#include "fovea/kernels/fused_attention/tile-inl.h"
#include "fovea/kernels/gemm-inl.h"

namespace fovea::kernels {
namespace {

template <class E>
class Forward {
  typedef Sum<E> T;

 public:
  Forward(const FusedAttentionProblem& problem, const MutableRows& out, void* lse, int64_t chunk,
          void* scratch)
      : p_(problem),
        widths_(problem),
        out_(out),
        lse_(static_cast<T*>(lse)),
        arena_(scratch),
        buffers_(arena_, problem, widths_, chunk) {}

  /// Queries `first` … `first` + `count` of one head.
  void run(int64_t batch, int64_t head, int64_t first, int64_t count) {
    TilePlace at{batch, head, 0, 0, first, count};
    start(at);
    const int64_t keys = kept_keys_end(p_, batch);
    for (at.first_key = 0; at.first_key < keys; at.first_key += kTile) {
      at.keys = min(kTile, keys - at.first_key);
      if (sight(p_, at) == Sight::None) continue;
      const Kept kept =
          pack_keys<E>(p_, batch, head / group_of(p_), at.first_key, at.keys, buffers_.tile, 0);
      if (kept != Kept::None)
        for_each_tile(at,
                      [&](const TilePlace& tile, int64_t offset) { add_keys(tile, offset, kept); });
    }
    for_each_tile(at, [&](const TilePlace& tile, int64_t offset) { finish(tile, offset); });
  }

 private:
  /// Calls `work` with each tile of at most 64 queries and where its buffers begin.
  template <class Work>
  void for_each_tile(const TilePlace& all_queries, Work work) {
    for (int64_t offset = 0; offset < all_queries.queries; offset += kTile) {
      TilePlace tile = all_queries;
      tile.first_query += offset;
      tile.queries = min(kTile, all_queries.queries - offset);
      work(tile, offset);
    }
  }

  void start(const TilePlace& at) {
    for_each_tile(at, [&](const TilePlace& tile, int64_t offset) {
      pack_queries<E>(p_, at.batch, at.head, tile.first_query, tile.queries, buffers_.rows,
                      buffers_.queries + offset * widths_.head);
      fill(buffers_.sums + offset * widths_.value, kTile * widths_.value, T(0));
      fill(buffers_.tops + offset, kTile, lowest());
      fill(buffers_.totals + offset, kTile, T(0));
    });
  }

  void add_keys(const TilePlace& at, int64_t offset, Kept kept) {
    const Sight seen = sight(p_, at);
    if (seen == Sight::None || !some_kept(at)) return;
    const int64_t vectors = at.vectors<T>();
    T* scores = buffers_.scores;
    multiply<T, Left::RowMajor, Into::Fresh>(buffers_.tile.keys, widths_.head,
                                             buffers_.queries + offset * widths_.head, kTile,
                                             scores, kTile, at.keys, vectors, p_.head_size);
    if (seen != Sight::All || kept != Kept::All || p_.slopes != nullptr)
      mask_scores(p_, at, buffers_.tile.kept, buffers_.tile.poison, scores);
    if (p_.dropout_rate > 0) find_dropped(p_, at, buffers_.dropped);
    T* sums = buffers_.sums + offset * widths_.value;
    for (int64_t v = 0; v < vectors; ++v) soften_vector(at, offset, v * kWidth<T>, sums);
    multiply<T, Left::Transposed, Into::Sum>(buffers_.tile.values, widths_.value, scores, kTile,
                                             sums, kTile, p_.value_size, vectors, at.keys);
  }

  void soften_vector(const TilePlace& at, int64_t offset, int64_t column, T* sums) {
    const T dropout_scale = static_cast<T>(1 / (1 - p_.dropout_rate));
    T* tops = buffers_.tops + offset + column;
    const auto step = p_.dropout_rate > 0 ? soften<T, true> : soften<T, false>;
    const Values<T> factor =
        step(at.keys, dropout_scale, buffers_.dropped + (p_.dropout_rate > 0 ? column : 0),
             buffers_.scores + column, tops, buffers_.totals + offset + column);
    if (!any(factor != broadcast(T(1)))) return;  // mostly: the top is found early
    for (int64_t d = 0; d < p_.value_size; ++d)
      store(sums + d * kTile + column, load(sums + d * kTile + column) * factor);
  }

  void finish(const TilePlace& at, int64_t offset) {
    T* sums = buffers_.sums + offset * widths_.value;
    T lse[kTile];
    for (int64_t column = 0; column < at.queries; column += kWidth<T>) {
      const Values<T> total = load(buffers_.totals + offset + column);
      const auto fully_masked = (total == Values<T>{}) | not_kept(at, column);
      const Values<T> inverse = broadcast(T(1)) / total;
      for (int64_t d = 0; d < p_.value_size; ++d) {
        T* place = sums + d * kTile + column;
        store(place, fully_masked ? Values<T>{} : load(place) * inverse);
      }
      const Values<T> top = load(buffers_.tops + offset + column);
      store(lse + column, fully_masked ? broadcast(-static_cast<T>(kInfinity))
                                       : top * static_cast<T>(kLn2) + log(total));
    }
    transpose(sums, kTile, p_.value_size, at.queries, buffers_.rows, widths_.value, T(1));
    for (int64_t i = 0; i < at.queries; ++i) {
      write_row<E>(buffers_.rows + i * widths_.value, p_.value_size, T(1),
                   row_of<E>(out_, at.batch, at.head, at.first_query + i));
      lse_[(at.batch * p_.heads + at.head) * p_.queries + at.first_query + i] = lse[i];
    }
  }

  bool some_kept(const TilePlace& at) const {
    return kept_end(keep_queries_from(p_, at.batch, at.first_query), at.queries) > 0;
  }

  /// True in the lanes of queries that are not kept.
  Integers<T> not_kept(const TilePlace& at, int64_t column) const {
    const uint8_t* keep = keep_queries_from(p_, at.batch, at.first_query);
    Integers<T> result{};
    for (int64_t i = column; keep != nullptr && i < min(at.queries, column + kWidth<T>); ++i)
      result[i - column] = keep[i] ? 0 : -1;
    return result;
  }

  /// Below every finite score, and finite, so that it may be subtracted from -infinity.
  static T lowest() {
    return static_cast<T>(sizeof(T) == sizeof(float) ? -__FLT_MAX__ : -__DBL_MAX__);
  }

  const FusedAttentionProblem& p_;
  Widths widths_;
  const MutableRows& out_;
  T* lse_;
  Arena arena_;
  ForwardBuffers<T> buffers_;
};

template <class E>
void forward_slice(const FusedAttentionProblem& p, int64_t slice, const MutableRows& out, void* lse,
                   void* scratch) {
  const ForwardPlan plan = forward_plan(p);
  const Bundles& bundles = plan.bundles;
  Forward<E> forward(p, out, lse, plan.chunk, scratch);
  const int64_t end = min(bundles.units, (slice + 1) * bundles.size);
  for (int64_t unit = slice * bundles.size; unit < end; ++unit) {
    const int64_t row = unit / plan.chunks, first = unit % plan.chunks * plan.chunk;
    forward.run(row / p.heads, row % p.heads, first, min(plan.chunk, p.queries - first));
  }
}

}  // namespace
}  // namespace fovea::kernels
