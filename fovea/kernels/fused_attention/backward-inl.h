// Fused attention, backward: a slice owns keys, so that their gradients have one writer, and lets
// the queries pass by. With g the gradient of o, delta_i = g_i . o_i, per tile of 64 keys and 64
// queries:
//   S^T = K Q^T,  P^T = 2^(S^T - lse)      [64, 64]      rebuilt from the forward pass's lse
//   dP^T = V g^T                           [64, 64]
//   dS^T = P^T (d dP^T - delta)            [64, 64]
//   dV += (d P^T) g,  dK += dS^T Q         [64, Dv], [64, D]
//   dQ^T += K^T dS^T                       [D, 64]
#pragma once

#include "fovea/kernels/fused_attention/tile-inl.h"
#include "fovea/kernels/gemm-inl.h"

namespace fovea::kernels {
namespace {

/// Writes dQ of at most 64 queries from its sums [Dp][64], by way of `rows`.
template <class E>
void write_query_gradient(const FusedAttentionProblem& p, const MutableRows& to, int64_t batch,
                          int64_t head, int64_t first, const Sum<E>* sums, Sum<E>* rows) {
  const int64_t padded = Widths(p).head, count = min(kTile, p.queries - first);
  transpose(sums, kTile, p.head_size, count, rows, padded, static_cast<Sum<E>>(p.scale));
  for (int64_t i = 0; i < count; ++i)
    write_row<E>(rows + i * padded, p.head_size, Sum<E>(1), row_of<E>(to, batch, head, first + i));
}

template <class E>
class Backward {
  typedef Sum<E> T;

 public:
  Backward(const FusedAttentionProblem& problem, const FusedAttentionGradient& gradient,
           void* shared, void* scratch)
      : p_(problem),
        g_(gradient),
        widths_(problem),
        group_(group_of(problem)),
        padded_queries_(round_up(problem.queries, kTile)),
        splits_(backward_plan(problem).splits),
        shared_(static_cast<T*>(shared)),
        arena_(scratch),
        buffers_(arena_, problem, widths_) {}

  /// Key chunks split, split + splits, … of one key head.
  void run(int64_t batch, int64_t key_head, int64_t split) {
    batch_ = batch;
    key_head_ = key_head;
    split_ = split;
    kept_end_ = kept_keys_end(p_, batch);
    for (int64_t member = 0; member < group_; ++member) start_head(member);
    for (int64_t first = split * kKeyChunk; first < p_.keys; first += splits_ * kKeyChunk)
      run_chunk(first, min(kKeyChunk, p_.keys - first));
    if (splits_ > 1) return;
    for (int64_t member = 0; member < group_; ++member)
      for (int64_t first = 0; first < p_.queries; first += kTile)
        write_query_gradient<E>(p_, g_.q, batch_, head_of(member), first,
                                sums_of(member) + first * widths_.head, buffers_.query_rows);
  }

 private:
  int64_t head_of(int64_t member) const { return key_head_ * group_ + member; }

  /// [Q / 64][Dp][64]
  T* sums_of(int64_t member) const {
    if (splits_ == 1) return buffers_.query_sums + member * query_sums(p_);
    const int64_t row = batch_ * p_.heads + head_of(member);
    return shared_ + (row * splits_ + split_) * query_sums(p_);
  }

  void start_head(int64_t member) {
    fill(sums_of(member), query_sums(p_), T(0));
    for (int64_t first = 0; first < p_.queries; first += kTile)
      start_queries(member, first, min(kTile, p_.queries - first));
  }

  /// lse in units of log 2 and delta. A query that sees nothing gets lse = infinity: every weight
  /// is then 0.
  void start_queries(int64_t member, int64_t first, int64_t count) {
    const auto every = [](int64_t) { return true; };
    T *g = buffers_.out_rows, *out = buffers_.out_columns;
    T* delta = buffers_.delta + member * padded_queries_ + first;
    T* lse = buffers_.lse + member * padded_queries_ + first;
    const int64_t head = head_of(member);
    read_rows<E>(rows_of<E>(g_.out_gradient, batch_, head, first, count, p_.value_size), g,
                 widths_.value, every);
    read_rows<E>(rows_of<E>(g_.out, batch_, head, first, count, p_.value_size), out, widths_.value,
                 every);
    for (int64_t i = 0; i < count; i += kWidth<T>)
      dot_rows(g + i * widths_.value, out + i * widths_.value, delta + i);
    const T* from = static_cast<const T*>(g_.lse) + (batch_ * p_.heads + head) * p_.queries + first;
    for (int64_t i = 0; i < kTile; ++i) {
      const bool fully_masked = i >= count || from[i] == -static_cast<T>(kInfinity);
      lse[i] = fully_masked ? static_cast<T>(kInfinity) : from[i] * static_cast<T>(kLog2E);
      if (fully_masked) delta[i] = 0;
    }
  }

  /// One vector of dots a_i . b_i of the rows of two packed buffers.
  void dot_rows(const T* a, const T* b, T* to) const {
    Values<T> sums[kWidth<T>];
    for (int64_t i = 0; i < kWidth<T>; ++i) {
      sums[i] = Values<T>{};
      for (int64_t d = i * widths_.value; d < i * widths_.value + p_.value_size; d += kWidth<T>)
        sums[i] += load(a + d) * load(b + d);
    }
    transpose_stages<1, T>(sums);
    for (int64_t i = 1; i < kWidth<T>; ++i) sums[0] += sums[i];
    store(to, sums[0]);
  }

  void run_chunk(int64_t first, int64_t count) {
    const int64_t kept_count = min(count, kept_end_ - first);
    Kept kept[kKeyChunk / kTile];
    for (int64_t offset = 0; offset < kept_count; offset += kTile)
      kept[offset / kTile] = pack_keys<E>(p_, batch_, key_head_, first + offset,
                                          min(kTile, kept_count - offset), buffers_.chunk, offset);
    fill(buffers_.key_sums, count * widths_.head, T(0));
    fill(buffers_.value_sums, count * widths_.value, T(0));
    for (int64_t member = 0; kept_count > 0 && member < group_; ++member)
      for (int64_t query = 0; query < p_.queries; query += kTile)
        add_queries(
            {batch_, head_of(member), first, kept_count, query, min(kTile, p_.queries - query)},
            member, kept);
    for (int64_t j = 0; j < count; ++j) {
      write_row<E>(buffers_.key_sums + j * widths_.head, p_.head_size, static_cast<T>(p_.scale),
                   row_of<E>(g_.k, batch_, key_head_, first + j));
      write_row<E>(buffers_.value_sums + j * widths_.value, p_.value_size, T(1),
                   row_of<E>(g_.v, batch_, key_head_, first + j));
    }
  }

  /// At most 64 queries meet the chunk's tiles.
  void add_queries(const TilePlace& chunk, int64_t member, const Kept* kept) {
    if (sight(p_, chunk) == Sight::None || !pack_tile(chunk, member)) return;
    for (int64_t offset = 0; offset < chunk.keys; offset += kTile) {
      TilePlace tile = chunk;
      tile.first_key += offset;
      tile.keys = min(kTile, chunk.keys - offset);
      if (kept[offset / kTile] != Kept::None) add_tile(tile, member, offset, kept[offset / kTile]);
    }
  }

  /// Queries and gradients of o in both orders; false when none of the queries sees anything. Where
  /// one of them is not finite both rows become zeros and lse NaN, so that NaN reaches exactly what
  /// the query sees.
  bool pack_tile(const TilePlace& at, int64_t member) {
    const T* lse = buffers_.lse + member * padded_queries_ + at.first_query;
    const auto sees = [&](int64_t i) { return lse[i] != static_cast<T>(kInfinity); };
    int64_t count = at.queries;
    while (count > 0 && !sees(count - 1)) --count;
    if (count == 0) return false;
    T *q = buffers_.query_rows, *g = buffers_.out_rows;
    const bool finite_queries =
        read_rows<E>(rows_of<E>(p_.q, at.batch, at.head, at.first_query, at.queries, p_.head_size),
                     q, widths_.head, sees);
    const bool finite_gradient = read_rows<E>(
        rows_of<E>(g_.out_gradient, at.batch, at.head, at.first_query, at.queries, p_.value_size),
        g, widths_.value, sees);
    for (int64_t i = 0; i < kTile; ++i) buffers_.tile_lse[i] = lse[i];
    if (!finite_queries || !finite_gradient) poison_rows(at.queries);
    transpose_rows(q, widths_.head, at.queries, buffers_.query_columns,
                   static_cast<T>(p_.scale * kLog2E));
    transpose_rows(g, widths_.value, at.queries, buffers_.out_columns, T(1));
    return true;
  }

  void poison_rows(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      T* q = buffers_.query_rows + i * widths_.head;
      T* g = buffers_.out_rows + i * widths_.value;
      if (is_finite(q, widths_.head) && is_finite(g, widths_.value)) continue;
      fill(q, widths_.head, T(0));
      fill(g, widths_.value, T(0));
      buffers_.tile_lse[i] = static_cast<T>(__builtin_nan(""));
    }
  }

  /// The five products. `offset` is the tile's first key within the chunk.
  void add_tile(const TilePlace& at, int64_t member, int64_t offset, Kept kept) {
    const Sight seen = sight(p_, at);
    if (seen == Sight::None) return;
    const int64_t vectors = at.vectors<T>();
    const T* keys = buffers_.chunk.keys + offset * widths_.head;
    const T* values = buffers_.chunk.values + offset * widths_.value;
    T *weights = buffers_.weights, *slopes = buffers_.slopes;
    multiply<T, Left::RowMajor, Into::Fresh>(keys, widths_.head, buffers_.query_columns, kTile,
                                             weights, kTile, at.keys, vectors, p_.head_size);
    multiply<T, Left::RowMajor, Into::Fresh>(values, widths_.value, buffers_.out_columns, kTile,
                                             slopes, kTile, at.keys, vectors, p_.value_size);
    const bool masked = seen != Sight::All || kept != Kept::All;
    if (masked || p_.slopes != nullptr)
      mask_scores<T>(p_, at, buffers_.chunk.kept + offset, nullptr, weights);
    differentiate_tile(at, member, masked);
    multiply<T, Left::RowMajor, Into::Sum>(weights, kTile, buffers_.out_rows, widths_.value,
                                           buffers_.value_sums + offset * widths_.value,
                                           widths_.value, at.keys,
                                           ceil_div(p_.value_size, kWidth<T>), at.queries);
    multiply<T, Left::RowMajor, Into::Sum>(slopes, kTile, buffers_.query_rows, widths_.head,
                                           buffers_.key_sums + offset * widths_.head, widths_.head,
                                           at.keys, ceil_div(p_.head_size, kWidth<T>), at.queries);
    multiply<T, Left::Transposed, Into::Sum>(keys, widths_.head, slopes, kTile,
                                             sums_of(member) + at.first_query * widths_.head, kTile,
                                             p_.head_size, vectors, at.keys);
  }

  void differentiate_tile(const TilePlace& at, int64_t member, bool masked) {
    const bool dropout = p_.dropout_rate > 0;
    if (dropout) find_dropped(p_, at, buffers_.dropped);
    const auto step = masked
                          ? dropout ? differentiate<T, true, true> : differentiate<T, true, false>
                      : dropout ? differentiate<T, false, true>
                                : differentiate<T, false, false>;
    const T dropout_scale = static_cast<T>(1 / (1 - p_.dropout_rate));
    const T* delta = buffers_.delta + member * padded_queries_ + at.first_query;
    for (int64_t column = 0; column < at.queries; column += kWidth<T>)
      step(at.keys, dropout_scale, buffers_.dropped + (dropout ? column : 0),
           load(buffers_.tile_lse + column), load(delta + column), buffers_.weights + column,
           buffers_.slopes + column);
  }

  const FusedAttentionProblem& p_;
  const FusedAttentionGradient& g_;
  Widths widths_;
  int64_t group_, padded_queries_, splits_;
  T* shared_;
  Arena arena_;
  BackwardBuffers<T> buffers_;
  int64_t batch_ = 0, key_head_ = 0, split_ = 0;
  int64_t kept_end_ = 0;  // no key is kept from here on
};

template <class E>
void backward_slice(const FusedAttentionProblem& p, int64_t slice,
                    const FusedAttentionGradient& gradient, void* shared, void* scratch) {
  const BackwardPlan plan = backward_plan(p);
  const Bundles& bundles = plan.bundles;
  Backward<E> backward(p, gradient, shared, scratch);
  const int64_t end = min(bundles.units, (slice + 1) * bundles.size);
  for (int64_t unit = slice * bundles.size; unit < end; ++unit) {
    const int64_t row = unit / plan.splits;
    backward.run(row / p.key_heads, row % p.key_heads, unit % plan.splits);
  }
}

/// Adds the splits' sums of 64 queries of one head in their order.
template <class E>
void backward_sum_slice(const FusedAttentionProblem& p, int64_t slice,
                        const FusedAttentionGradient& gradient, const void* shared, void* scratch) {
  typedef Sum<E> T;
  const int64_t tiles = ceil_div(p.queries, kTile), splits = backward_plan(p).splits;
  const int64_t row = slice / tiles, first = slice % tiles * kTile;
  const int64_t padded = Widths(p).head, count = padded * kTile;
  Arena arena(scratch);
  T* sums = arena.take<T>(count);
  T* rows = arena.take<T>(count);
  const T* slices = static_cast<const T*>(shared) + row * splits * query_sums(p) + first * padded;
  for (int64_t i = 0; i < count; i += kWidth<T>) {
    Values<T> total = load(slices + i);
    for (int64_t split = 1; split < splits; ++split)
      total += load(slices + split * query_sums(p) + i);
    store(sums + i, total);
  }
  write_query_gradient<E>(p, gradient.q, row / p.heads, row % p.heads, first, sums, rows);
}

}  // namespace
}  // namespace fovea::kernels
