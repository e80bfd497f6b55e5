// How fused attention is cut into slices, tiles and buffers: what fused_attention.cc and the files
// of every instruction set must agree on. Internal linkage throughout, because files of several
// instruction sets include it.
#pragma once

#include "fovea/kernels/fused_attention/fused_attention.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

/// A tile of scores is kTile keys x kTile queries: 16 KB of floats, so that it and the operands of
/// one product stream through a 32 KB L1 cache, while the loops over s in gemm-inl.h stay long
/// enough to hide the loading and storing of sums. Also one group of dropout's columns.
constexpr int64_t kTile = 64;
/// Backward: keys, values and their gradients of one chunk stay in the L2 cache (256 KB for heads
/// of 64) while the queries pass by. Measured at 4,096 tokens: 64 is a tenth slower, 1,024 a
/// twentieth faster, but a large chunk leaves a short head fewer slices.
constexpr int64_t kKeyChunk = 256;
/// Forward: queries of one slice at most. The keys are packed once per slice: 128 is a tenth
/// slower, 1,024 no faster.
constexpr int64_t kMostQueryChunk = 512;
/// Small problems get at least this many slices where they can, and cut a head for it.
constexpr int64_t kWantedSlices = 16;
/// Tiny heads are bundled until a slice has about so many scores.
constexpr int64_t kWantedScores = 1 << 15;

/// Query heads that share a key head.
constexpr int64_t group_of(const FusedAttentionProblem& p) {
  return p.heads / max(1, p.key_heads);
}

/// `units` pieces of about `scores` scores each, bundled into slices.
struct Bundles {
  int64_t units, size, slices;
};
constexpr Bundles bundled(int64_t units, int64_t scores) {
  const int64_t size = max(1, min(kWantedScores / max(1, scores), units / kWantedSlices));
  return {units, size, ceil_div(units, size)};
}

/// Forward: a unit is a chunk of the queries of one head.
struct ForwardPlan {
  int64_t chunk, chunks;  // queries in a chunk, chunks of a head
  Bundles bundles;
};
constexpr ForwardPlan forward_plan(const FusedAttentionProblem& p) {
  int64_t chunk = kMostQueryChunk;
  while (chunk > kTile && p.batch * p.heads * ceil_div(p.queries, chunk) < kWantedSlices)
    chunk /= 2;
  const int64_t chunks = ceil_div(p.queries, chunk);
  return {chunk, chunks, bundled(p.batch * p.heads * chunks, min(chunk, p.queries) * p.keys)};
}

/// Backward: a unit is every `splits`th key chunk of one key head, with all query heads that use
/// it. With several splits each leaves its own sum for the queries' gradient, to be added later.
struct BackwardPlan {
  int64_t splits;
  Bundles bundles;
};
constexpr BackwardPlan backward_plan(const FusedAttentionProblem& p) {
  const int64_t heads = p.batch * p.key_heads;
  const int64_t splits =
      max(1, min(ceil_div(kWantedSlices, max(1, heads)), ceil_div(p.keys, kKeyChunk)));
  return {splits, bundled(heads * splits, group_of(p) * p.queries * min(p.keys, kKeyChunk))};
}

/// Numbers that one head's query gradients take in `shared`, per split: [Q / 64][Dp][64].
constexpr int64_t query_sums(const FusedAttentionProblem& p) {
  return round_up(p.queries, kTile) * round_up(p.head_size, kWidestVector);
}

/// Hands out pieces of a block of memory, each on its own cache line.
class Arena {
 public:
  explicit Arena(void* block)
      : begin_(reinterpret_cast<uintptr_t>(block)), at_(rounded_up64(begin_)) {}
  template <class T>
  T* take(int64_t count) {
    const uintptr_t piece = at_;
    at_ = rounded_up64(at_ + static_cast<uintptr_t>(count) * sizeof(T));
    return reinterpret_cast<T*>(piece);
  }
  /// Bytes that all pieces need, wherever the block begins.
  int64_t bytes() const { return static_cast<int64_t>(at_ - begin_) + 64; }

 private:
  static uintptr_t rounded_up64(uintptr_t at) { return (at + 63) / 64 * 64; }
  uintptr_t begin_, at_;
};

/// Widths of packed rows.
struct Widths {
  int64_t head, value, widest;
  explicit Widths(const FusedAttentionProblem& p)
      : head(round_up(p.head_size, kWidestVector)),
        value(round_up(p.value_size, kWidestVector)),
        widest(max(head, value)) {}
};

/// Packed keys and values, and who may see them.
template <class T>
struct KeyBuffers {
  T *keys, *values;  // [count, Dp], [count, Dvp]; zeros where not kept or not finite
  T* poison;         // [count]: 0, or NaN where key or value is not finite
  uint8_t* kept;     // [count]

  KeyBuffers(Arena& arena, const Widths& widths, int64_t count)
      : keys(arena.take<T>(count * widths.head)),
        values(arena.take<T>(count * widths.value)),
        poison(arena.take<T>(count)),
        kept(arena.take<uint8_t>(count)) {}
};

template <class T>
struct ForwardBuffers {
  T* queries;  // [chunk / 64][Dp][64], times scale log2(e)
  T* sums;     // [chunk / 64][Dvp][64], not yet divided by `totals`
  T* tops;     // [chunk]: largest score so far, in units of log 2
  T* totals;   // [chunk]: sum of 2^(score - top)
  KeyBuffers<T> tile;
  T* scores;         // [64 keys][64 queries]
  int32_t* dropped;  // [64 keys][64 queries]: -1 where dropout strikes
  T* rows;           // [64][widest]: on the way in or out

  ForwardBuffers(Arena& arena, const FusedAttentionProblem& p, const Widths& widths, int64_t chunk)
      : queries(arena.take<T>(chunk * widths.head)),
        sums(arena.take<T>(chunk * widths.value)),
        tops(arena.take<T>(chunk)),
        totals(arena.take<T>(chunk)),
        tile(arena, widths, kTile),
        scores(arena.take<T>(kTile * kTile)),
        dropped(arena.take<int32_t>(p.dropout_rate > 0 ? kTile * kTile : 0)),
        rows(arena.take<T>(kTile * widths.widest)) {}
};

template <class T>
struct BackwardBuffers {
  KeyBuffers<T> chunk;
  T *key_sums, *value_sums;        // [kKeyChunk, Dp], [kKeyChunk, Dvp]
  T *query_rows, *out_rows;        // q [64, Dp] and the gradient of o [64, Dvp]
  T *query_columns, *out_columns;  // the same, transposed [Dp][64] (times scale log2(e)), [Dvp][64]
  T *lse, *delta;                  // [H / G][Q]: log2 of sum exp s, and o . (its gradient)
  T* tile_lse;                     // [64]
  T *weights, *slopes;             // [64 keys][64 queries]: a d, and the gradient of s
  int32_t* dropped;                // [64 keys][64 queries]
  T* query_sums;                   // [H / G][Q / 64][Dp][64] unless the head is split

  BackwardBuffers(Arena& arena, const FusedAttentionProblem& p, const Widths& widths)
      : chunk(arena, widths, kKeyChunk),
        key_sums(arena.take<T>(kKeyChunk * widths.head)),
        value_sums(arena.take<T>(kKeyChunk * widths.value)),
        query_rows(arena.take<T>(kTile * widths.head)),
        out_rows(arena.take<T>(kTile * widths.value)),
        query_columns(arena.take<T>(kTile * widths.head)),
        out_columns(arena.take<T>(kTile * widths.value)),
        lse(arena.take<T>(group_of(p) * round_up(p.queries, kTile))),
        delta(arena.take<T>(group_of(p) * round_up(p.queries, kTile))),
        tile_lse(arena.take<T>(kTile)),
        weights(arena.take<T>(kTile * kTile)),
        slopes(arena.take<T>(kTile * kTile)),
        dropped(arena.take<int32_t>(p.dropout_rate > 0 ? kTile * kTile : 0)),
        query_sums(
            arena.take<T>(backward_plan(p).splits > 1 ? 0 : group_of(p) * kernels::query_sums(p))) {
  }
};

template <class T>
struct WeightBuffers {
  T* queries;  // [Dp][64], times scale log2(e)
  KeyBuffers<T> tile;
  T* scores;  // [64 keys][64 queries]
  T* rows;    // [64][widest of Dp and 64]

  WeightBuffers(Arena& arena, const Widths& widths)
      : queries(arena.take<T>(kTile * widths.head)),
        tile(arena, widths, kTile),
        scores(arena.take<T>(kTile * kTile)),
        rows(arena.take<T>(kTile * max(widths.widest, kTile))) {}
};

}  // namespace
}  // namespace fovea::kernels
