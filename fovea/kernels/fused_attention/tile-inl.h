// Fused attention: what happens to one tile of scores between the matrix products. A tile is
// [64 keys][64 queries]: queries lie side by side in the lanes, so that softmax needs no sums or
// maxima across lanes. Scores are in units of log 2.
#pragma once

#include "fovea/kernels/dropout/dropout-inl.h"
#include "fovea/kernels/fused_attention/pack-inl.h"

namespace fovea::kernels {
namespace {

constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.69314718055994531;
constexpr float kInfinity = __builtin_inff();

/// Where a tile lies: `keys` rows from first_key on, `queries` columns from first_query on.
struct TilePlace {
  int64_t batch, head;
  int64_t first_key, keys;
  int64_t first_query, queries;

  template <class T>
  int64_t vectors() const {
    return (queries + kWidth<T> - 1) / kWidth<T>;
  }
};

/// How much of a tile the band lets through.
enum class Sight { None, Some, All };

inline Sight sight(const FusedAttentionProblem& p, const TilePlace& at) {
  const int64_t first = p.first_query + at.first_query;
  const int64_t lowest = at.first_key - (first + at.queries - 1);
  const int64_t highest = at.first_key + at.keys - 1 - first;
  if (highest < p.band_low || lowest > p.band_high) return Sight::None;
  return lowest >= p.band_low && highest <= p.band_high ? Sight::All : Sight::Some;
}

/// a - b within -1 … 64, without overflow: a column of the tile, or just outside.
inline int64_t column_within(int64_t a, int64_t b) {
  int64_t difference;
  if (__builtin_sub_overflow(a, b, &difference)) return b > 0 ? -1 : kTile;
  return difference < -1 ? -1 : difference > kTile ? kTile : difference;
}

/// ALiBi's bias, NaN from poisoned keys (`poison` may be null), and -infinity where unseen.
template <class T>
void mask_scores(const FusedAttentionProblem& p, const TilePlace& at, const uint8_t* kept,
                 const T* poison, T* scores) {
  typedef Integer<T> I;
  const int64_t vectors = at.vectors<T>(), first = p.first_query + at.first_query;
  const T slope = p.slopes == nullptr ? T(0) : static_cast<T>(p.slopes[at.head] * kLog2E);
  for (int64_t r = 0; r < at.keys; ++r) {
    const int64_t from_first = at.first_key + r - first;
    const int64_t low = column_within(from_first, p.band_high);
    const int64_t high = kept[r] ? column_within(from_first, p.band_low) : -1;
    const T bias = poison == nullptr ? T(0) : poison[r];
    Integers<T> column = lane_numbers<T>();
    for (int64_t v = 0; v < vectors; ++v, column += static_cast<I>(kWidth<T>)) {
      T* place = scores + r * kTile + v * kWidth<T>;
      const Values<T> far = __builtin_convertvector(column, Values<T>) - static_cast<T>(from_first);
      const Values<T> score = load(place) - slope * max(far, -far) + bias;
      const Integers<T> seen = (column >= static_cast<I>(low)) & (column <= static_cast<I>(high));
      store(place, seen ? score : broadcast(-static_cast<T>(kInfinity)));
    }
  }
}

/// dropped[key][query] = -1 where dropout strikes, else 0. A tile's keys are one group of columns:
/// a block serves keys c, c + 16, c + 32 and c + 48 of its query.
inline void find_dropped(const FusedAttentionProblem& p, const TilePlace& at, int32_t* dropped) {
  static_assert(kTile == kDropoutGroup);
  const double words = p.dropout_rate * 4294967296.0 + 0.5;
  const WordLanes threshold =
      (words >= 4294967295.0 ? 0xFFFFFFFFu : static_cast<uint32_t>(words)) - WordLanes{};
  const int64_t row = (at.batch * p.heads + at.head) * p.queries + at.first_query;
  for (int64_t c = 0; c < 16 && c < at.keys; ++c)
    for (int64_t i = 0; i < at.queries; i += kLanes) {
      const PhiloxLanes blocks = philox_rows(static_cast<uint64_t>(at.first_key / kTile * 16 + c),
                                             static_cast<uint64_t>(row + i), p.dropout_key);
      for (int64_t n = 0; n < 4; ++n) {
        const IntLanes below = (IntLanes)(blocks.words[n] < threshold);
        __builtin_memcpy(dropped + (c + 16 * n) * kTile + i, &below, sizeof below);
      }
    }
}

inline IntLanes load_dropped(const int32_t* from, float) {
  IntLanes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline LongLanes load_dropped(const int32_t* from, double) {
  typedef int32_t HalfLanes __attribute__((vector_size(2 * FOVEA_LANES)));
  HalfLanes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return __builtin_convertvector(lanes, LongLanes);
}

/// d: 0 where dropout strikes, else `kept`.
template <class T>
inline Values<T> dropout_factor(const int32_t* dropped, T kept) {
  return load_dropped(dropped, T()) ? Values<T>{} : broadcast(kept);
}

/// The largest of `top` and a column of scores; four chains, since a maximum waits for the last.
template <class T>
inline Values<T> top_of(Values<T> top, const T* scores, int64_t keys) {
  Values<T> tops[4] = {top, top, top, top};
  int64_t r = 0;
  for (; r + 4 <= keys; r += 4)
    for (int64_t i = 0; i < 4; ++i) tops[i] = max(tops[i], load(scores + (r + i) * kTile));
  for (; r < keys; ++r) tops[0] = max(tops[0], load(scores + r * kTile));
  return max(max(tops[0], tops[1]), max(tops[2], tops[3]));
}

/// One step of online softmax for one vector of queries: scores become 2^(score - top), times d
/// with dropout. Returns what older sums are to be multiplied by.
template <class T, bool Dropout>
inline Values<T> soften(int64_t keys, T dropout_scale, const int32_t* dropped, T* scores, T* tops,
                        T* totals) {
  const Values<T> before = load(tops), top = top_of<T>(before, scores, keys);
  const Values<T> factor = exp2(before - top);
  Values<T> total = load(totals) * factor;
  for (int64_t r = 0; r < keys; ++r) {
    const Values<T> weight = exp2(load(scores + r * kTile) - top);
    total += weight;
    store(scores + r * kTile,
          Dropout ? weight * dropout_factor<T>(dropped + r * kTile, dropout_scale) : weight);
  }
  store(tops, top);
  store(totals, total);
  return factor;
}

/// Backward, one vector of queries: `weights` holds scores and becomes a d, `slopes` holds the
/// gradient of a d and becomes that of s: a (d slope - delta). In a masked tile -infinity is unseen
/// and gets zeros, whatever NaN its query or its delta may be.
template <class T, bool Masked, bool Dropout>
inline void differentiate(int64_t keys, T dropout_scale, const int32_t* dropped, Values<T> lse,
                          Values<T> delta, T* weights, T* slopes) {
  for (int64_t r = 0; r < keys; ++r) {
    const Values<T> score = load(weights + r * kTile);
    Values<T> weight = exp2(score - lse), slope = load(slopes + r * kTile);
    Values<T> passed = weight;
    if (Dropout) {
      const Values<T> d = dropout_factor<T>(dropped + r * kTile, dropout_scale);
      passed = weight * d;
      slope = slope * d;
    }
    slope = weight * (slope - delta);
    if (Masked) {
      const auto unseen = score == broadcast(-static_cast<T>(kInfinity));
      passed = unseen ? Values<T>{} : passed;
      slope = unseen ? Values<T>{} : slope;
    }
    store(weights + r * kTile, passed);
    store(slopes + r * kTile, slope);
  }
}

}  // namespace
}  // namespace fovea::kernels
