// Fused attention, weights on demand: scores of at most 64 queries, tile by tile, into the target's
// rows; then an ordinary softmax of each row. Its own sums make it exact where the rounding of lse
// would show.
#pragma once

#include "fovea/kernels/fused_attention/tile-inl.h"
#include "fovea/kernels/gemm-inl.h"

namespace fovea::kernels {
namespace {

/// Largest lane.
template <class T>
inline T largest(Values<T> lanes) {
  T top = lanes[0];
  for (int64_t i = 1; i < kWidth<T>; ++i) top = top > lanes[i] ? top : lanes[i];
  return top;
}

/// Applies `change` to whole vectors of a row; the lanes past the end hold -infinity.
template <class T, class Change>
inline void change_row(T* row, int64_t count, Change change) {
  constexpr int64_t W = kWidth<T>;
  int64_t j = 0;
  for (; j + W <= count; j += W) store(row + j, change(load(row + j)));
  if (j == count) return;
  T last[W];
  fill(last, W, -static_cast<T>(kInfinity));
  __builtin_memcpy(last, row + j, static_cast<uint64_t>(count - j) * sizeof(T));
  store(last, change(load(last)));
  __builtin_memcpy(row + j, last, static_cast<uint64_t>(count - j) * sizeof(T));
}

/// Softmax in units of log 2. Where nothing is seen all is 0; a NaN spreads over what is seen.
template <class T>
void soften_row(T* row, int64_t count) {
  const T unseen = -static_cast<T>(kInfinity);
  Values<T> tops = broadcast(unseen);
  change_row(row, count, [&](Values<T> scores) { return tops = max(tops, scores), scores; });
  const T top = largest<T>(tops);
  if (top == unseen) return fill(row, count, T(0));
  Values<T> totals{};
  change_row(row, count, [&](Values<T> scores) {
    const Values<T> weights = exp2(scores - top);
    totals += scores == broadcast(unseen) ? Values<T>{} : weights;
    return scores == broadcast(unseen) ? scores : weights;
  });
  T total = 0;
  for (int64_t i = 0; i < kWidth<T>; ++i) total += totals[i];
  change_row(row, count, [&](Values<T> weights) {
    return weights == broadcast(unseen) ? Values<T>{} : weights / total;
  });
}

template <class E>
void weight_tile(const FusedAttentionProblem& p, TilePlace at, const WeightBuffers<Sum<E>>& buffers,
                 Sum<E>* target, int64_t target_row) {
  typedef Sum<E> T;
  const Widths widths(p);
  pack_queries<E>(p, at.batch, at.head, at.first_query, at.queries, buffers.rows, buffers.queries);
  for (at.first_key = 0; at.first_key < p.keys; at.first_key += kTile) {
    at.keys = min(kTile, p.keys - at.first_key);
    const Kept kept = sight(p, at) == Sight::None
                          ? Kept::None
                          : pack_keys<E>(p, at.batch, at.head / group_of(p), at.first_key, at.keys,
                                         buffers.tile, 0);
    if (kept == Kept::None) {
      fill(buffers.scores, kTile * kTile, -static_cast<T>(kInfinity));
    } else {
      multiply<T, Left::RowMajor, Into::Fresh>(buffers.tile.keys, widths.head, buffers.queries,
                                               kTile, buffers.scores, kTile, at.keys,
                                               at.vectors<T>(), p.head_size);
      mask_scores<T>(p, at, buffers.tile.kept, buffers.tile.poison, buffers.scores);
    }
    transpose(buffers.scores, kTile, at.keys, at.queries, buffers.rows, kTile, T(1));
    for (int64_t i = 0; i < at.queries; ++i)
      __builtin_memcpy(target + i * target_row + at.first_key, buffers.rows + i * kTile,
                       static_cast<uint64_t>(at.keys) * sizeof(T));
  }
  const uint8_t* keep = keep_queries_from(p, at.batch, at.first_query);
  for (int64_t i = 0; i < at.queries; ++i)
    if (keep != nullptr && !keep[i]) {
      fill(target + i * target_row, p.keys, T(0));
    } else {
      soften_row(target + i * target_row, p.keys);
    }
}

template <class E>
void weight_rows(FusedAttentionProblem p, const FusedAttentionRows& rows, void* target,
                 int64_t target_row, void* scratch) {
  typedef Sum<E> T;
  p.v.data = nullptr;  // weights do not depend on values, not even on bad ones
  Arena arena(scratch);
  const WeightBuffers<T> buffers(arena, Widths(p));
  for (int64_t i = 0; i < rows.count; i += kTile)
    weight_tile<E>(p, {rows.batch, rows.head, 0, 0, rows.first + i, min(kTile, rows.count - i)},
                   buffers, static_cast<T*>(target) + i * target_row, target_row);
}

}  // namespace
}  // namespace fovea::kernels
