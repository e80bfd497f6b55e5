// Dropout of vectors, for the kernels that do it on the way. See dropout.h for which elements are
// dropped.
#pragma once

#include "fovea/kernels/dropout/dropout.h"
#include "fovea/kernels/philox-inl.h"

namespace fovea::kernels {
namespace {

constexpr int64_t kDropoutGroup = 64;  // columns that 16 blocks of Philox serve
constexpr int64_t kDropoutVectors = kDropoutGroup / kLanes;

/// The words of columns 64 group … 64 group + 63 of `row`, in the order of the columns.
inline void dropout_words(uint64_t key, int64_t row, int64_t group,
                          WordLanes words[kDropoutVectors]) {
  constexpr int64_t kVectors = 16 / kLanes;  // that 16 blocks fill
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) {
    const PhiloxLanes blocks = philox_lanes(static_cast<uint64_t>(group * 16 + v * kLanes),
                                            static_cast<uint64_t>(row), key);
#pragma GCC unroll 4
    for (int64_t n = 0; n < 4; ++n) words[n * kVectors + v] = blocks.words[n];
  }
}

/// x / (1 - rate), or 0 where the element is dropped, whatever stood there.
inline Lanes dropped_out(const Dropout& dropout, WordLanes words, Lanes x) {
  return words < dropout.threshold - WordLanes{} ? Lanes{} : x * broadcast(dropout.scale);
}

/// for_columns() over a row with what dropout makes of a vector there:
/// work(column, slot, AllLanes or FirstLanes, dropped), with dropped(Lanes) -> Lanes.
template <class Work>
inline void for_dropout_columns(Dropout dropout, int64_t row, int64_t columns, Work work) {
  if (dropout.threshold == 0)
    return for_columns(columns, [&](int64_t column, int64_t slot, auto lanes) {
      work(column, slot, lanes, [](Lanes x) { return x; });
    });
  for (int64_t begin = 0; begin < columns; begin += kDropoutGroup) {
    WordLanes words[kDropoutVectors];
    dropout_words(dropout.key, row, begin / kDropoutGroup, words);
    const auto with_words = [&](int64_t v, int64_t slot, auto lanes) {
      const WordLanes own = words[v];
      work(begin + v * kLanes, slot, lanes,
           [dropout, own](Lanes x) { return dropped_out(dropout, own, x); });
    };
    if (begin + kDropoutGroup <= columns) {
#pragma GCC unroll 16
      for (int64_t v = 0; v < kDropoutVectors; ++v) with_words(v, v % kSlots, AllLanes{});
      continue;
    }
    int64_t v = 0;
    for (; begin + (v + 1) * kLanes <= columns; ++v) with_words(v, int64_t{0}, AllLanes{});
    const int64_t rest = columns - begin - v * kLanes;
    if (rest > 0) with_words(v, int64_t{0}, FirstLanes{rest});
  }
}

}  // namespace
}  // namespace fovea::kernels
