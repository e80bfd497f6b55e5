// Dropout of vectors, for the kernels that do it on the way. See dropout.h for which elements are
// dropped.
#pragma once

#include "fovea/kernels/columns-inl.h"
#include "fovea/kernels/dropout.h"
#include "fovea/kernels/philox-inl.h"

namespace {

using fovea::kernels::Dropout;

/// x where it is kept, scaled; 0 where it is dropped, whatever stood there.
inline Lanes kept(const Dropout& dropout, WordLanes words, Lanes x) {
  return words < dropout.threshold - WordLanes{} ? Lanes{} : x * all(dropout.scale);
}

/// for_columns() over a row with its random words: work(column, slot, words), rest(column, count,
/// words).
template <class Work, class Rest>
inline void for_columns_with_words(uint64_t key, int64_t row, int64_t columns, Work work,
                                   Rest rest) {
  for (int64_t begin = 0; begin < columns; begin += kDropoutGroup) {
    WordLanes words[kDropoutVectors];
    dropout_words(key, row, begin / kDropoutGroup, words);
    if (begin + kDropoutGroup <= columns) {
#pragma GCC unroll 16
      for (int64_t v = 0; v < kDropoutVectors; ++v) work(begin + v * kLanes, v % kSlots, words[v]);
      continue;
    }
    int64_t v = 0, column = begin;
    for (; column + kLanes <= columns; ++v, column += kLanes) work(column, int64_t{0}, words[v]);
    if (column < columns) rest(column, columns - column, words[v]);
  }
}

}  // namespace
