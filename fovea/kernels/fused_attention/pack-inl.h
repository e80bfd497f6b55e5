// Fused attention: rows of any element type in and out of the padded buffers of the sums' type.
#pragma once

#include "fovea/kernels/fused_attention/plan-inl.h"
#include "fovea/kernels/simd.h"

typedef uint16_t HalfWords __attribute__((vector_size(2 * FOVEA_LANES)));
typedef uint32_t FullWords __attribute__((vector_size(4 * FOVEA_LANES)));

namespace fovea::kernels {
namespace {

/// The upper half of a float.
struct BFloat16 {
  uint16_t bits;
};

template <class E>
struct SumOf {
  typedef E Type;
};
template <>
struct SumOf<BFloat16> {
  typedef float Type;
};
template <class E>
using Sum = typename SumOf<E>::Type;

inline Lanes read(const float* from) {
  return load(from);
}
inline DoubleLanes read(const double* from) {
  return load(from);
}
inline Lanes read(const BFloat16* from) {
  HalfWords words;
  __builtin_memcpy(&words, from, sizeof words);
  return (Lanes)(__builtin_convertvector(words, FullWords) << 16);
}

inline void write(float* to, Lanes values) {
  store(to, values);
}
inline void write(double* to, DoubleLanes values) {
  store(to, values);
}
/// To the nearest, ties to even; a NaN stays one.
inline void write(BFloat16* to, Lanes values) {
  const FullWords bits = (FullWords)values;
  const FullWords nearest = bits + 0x7FFF + ((bits >> 16) & 1);
  const FullWords kept = values == values ? nearest : (bits | 0x400000);
  const HalfWords words = __builtin_convertvector(kept >> 16, HalfWords);
  __builtin_memcpy(to, &words, sizeof words);
}

template <class T>
inline void fill(T* to, int64_t count, T value) {
  for (int64_t i = 0; i < count; ++i) to[i] = value;
}

/// Packs one row and pads it with zeros; the result has a NaN lane unless all numbers are finite.
template <class E>
inline Values<Sum<E>> read_row(const E* from, int64_t width, Sum<E>* to, int64_t padded) {
  constexpr int64_t W = kWidth<Sum<E>>;
  Values<Sum<E>> check{};
  int64_t d = 0;
  const auto put = [&](Values<Sum<E>> values) {
    store(to + d, values);
    check += values * broadcast(Sum<E>(0));
  };
  for (; d + W <= width; d += W) put(read(from + d));
  if (d < width) {
    E last[W] = {};
    __builtin_memcpy(last, from + d, static_cast<uint64_t>(width - d) * sizeof(E));
    put(read(last));
    d += W;
  }
  for (; d < padded; d += W) store(to + d, Values<Sum<E>>{});
  return check;
}

template <class E>
inline void write_row(const Sum<E>* from, int64_t width, Sum<E> factor, E* to) {
  constexpr int64_t W = kWidth<Sum<E>>;
  int64_t d = 0;
  for (; d + W <= width; d += W) write(to + d, load(from + d) * broadcast(factor));
  if (d < width) {
    E last[W];
    write(last, load(from + d) * broadcast(factor));
    __builtin_memcpy(to + d, last, static_cast<uint64_t>(width - d) * sizeof(E));
  }
}

template <class T>
inline bool is_finite(const T* row, int64_t width) {
  T check = 0;
  for (int64_t d = 0; d < width; ++d) check += row[d] * T(0);
  return check == check;
}

template <class E>
inline const E* row_of(const Rows& rows, int64_t batch, int64_t head, int64_t row) {
  return static_cast<const E*>(rows.data) + batch * rows.batch + head * rows.head + row * rows.row;
}
template <class E>
inline E* row_of(const MutableRows& rows, int64_t batch, int64_t head, int64_t row) {
  return static_cast<E*>(rows.data) + batch * rows.batch + head * rows.head + row * rows.row;
}

/// Some rows of one head, on their way into a padded buffer.
template <class E>
struct RowSource {
  const E* data;
  int64_t stride, count, width;
};

template <class E>
inline RowSource<E> rows_of(const Rows& rows, int64_t batch, int64_t head, int64_t first,
                            int64_t count, int64_t width) {
  return {row_of<E>(rows, batch, head, first), rows.row, count, width};
}

/// Packs the rows for which `wanted(i)` holds and zeros for the others; false when a packed number
/// is not finite.
template <class E, class Wanted>
inline bool read_rows(const RowSource<E>& from, Sum<E>* to, int64_t padded, Wanted wanted) {
  Values<Sum<E>> check{};
  for (int64_t i = 0; i < from.count; ++i) {
    if (wanted(i)) {
      check += read_row(from.data + i * from.stride, from.width, to + i * padded, padded);
    } else {
      fill(to + i * padded, padded, Sum<E>(0));
    }
  }
  return !any(check != check);
}

/// Where the kept ones of `count` end; null keeps all.
inline int64_t kept_end(const uint8_t* keep, int64_t count) {
  while (keep != nullptr && count > 0 && keep[count - 1] == 0) --count;
  return count;
}
inline int64_t kept_keys_end(const FusedAttentionProblem& p, int64_t batch) {
  return kept_end(p.keep_keys == nullptr ? nullptr : p.keep_keys + batch * p.keys, p.keys);
}

/// The flags of some queries, or null when all are kept.
inline const uint8_t* keep_queries_from(const FusedAttentionProblem& p, int64_t batch,
                                        int64_t first) {
  return p.keep_queries == nullptr ? nullptr : p.keep_queries + batch * p.queries + first;
}

/// How much of a tile of keys may be seen at all.
enum class Kept { None, Some, All };

/// Packs keys `first` … `first` + `count` of one key head at place `at` of `to`, and their values
/// where the problem has some.
template <class E>
Kept pack_keys(const FusedAttentionProblem& p, int64_t batch, int64_t key_head, int64_t first,
               int64_t count, const KeyBuffers<Sum<E>>& to, int64_t at) {
  const Widths widths(p);
  Sum<E>* keys = to.keys + at * widths.head;
  Sum<E>* values = to.values + at * widths.value;
  uint8_t* kept = to.kept + at;
  Sum<E>* poison = to.poison + at;
  int64_t seen = count;
  fill(kept, count, uint8_t(1));
  fill(poison, count, Sum<E>(0));
  if (p.keep_keys != nullptr) {
    seen = 0;
    for (int64_t j = 0; j < count; ++j) {
      kept[j] = p.keep_keys[batch * p.keys + first + j] != 0;
      seen += kept[j];
    }
    if (seen == 0) return Kept::None;
  }
  const auto wanted = [&](int64_t j) { return kept[j] != 0; };
  const bool finite_keys = read_rows<E>(rows_of<E>(p.k, batch, key_head, first, count, p.head_size),
                                        keys, widths.head, wanted);
  const bool finite_values =
      p.v.data == nullptr ||
      read_rows<E>(rows_of<E>(p.v, batch, key_head, first, count, p.value_size), values,
                   widths.value, wanted);
  if (finite_keys && finite_values) return seen == count ? Kept::All : Kept::Some;
  for (int64_t j = 0; j < count; ++j) {
    Sum<E>* key = keys + j * widths.head;
    Sum<E>* value = values + j * widths.value;
    const int64_t value_width = p.v.data == nullptr ? 0 : widths.value;
    if (is_finite(key, widths.head) && is_finite(value, value_width)) continue;
    fill(key, widths.head, Sum<E>(0));
    fill(value, value_width, Sum<E>(0));
    poison[j] = static_cast<Sum<E>>(__builtin_nan(""));
  }
  return Kept::Some;
}

/// Transposes packed rows [count <= 64, padded] into [padded][64], times `factor`.
template <class T>
inline void transpose_rows(T* rows, int64_t padded, int64_t count, T* to, T factor) {
  const int64_t whole = round_up(count, kWidth<T>);
  fill(rows + count * padded, (whole - count) * padded, T(0));
  transpose(rows, padded, whole, padded, to, kTile, factor);
}

/// Packs at most 64 queries, transposed and times scale log2(e), by way of `rows`. One that is not
/// finite is NaN throughout: an infinity alone could hide behind a zero weight.
template <class E>
void pack_queries(const FusedAttentionProblem& p, int64_t batch, int64_t head, int64_t first,
                  int64_t count, Sum<E>* rows, Sum<E>* to) {
  typedef Sum<E> T;
  const int64_t padded = Widths(p).head;
  const uint8_t* keep = keep_queries_from(p, batch, first);
  const bool finite =
      read_rows<E>(rows_of<E>(p.q, batch, head, first, count, p.head_size), rows, padded,
                   [&](int64_t i) { return keep == nullptr || keep[i] != 0; });
  if (!finite)
    for (int64_t i = 0; i < count; ++i)
      if (!is_finite(rows + i * padded, padded))
        fill(rows + i * padded, padded, static_cast<T>(__builtin_nan("")));
  transpose_rows(rows, padded, count, to, static_cast<T>(p.scale * 1.4426950408889634));
}

}  // namespace
}  // namespace fovea::kernels
