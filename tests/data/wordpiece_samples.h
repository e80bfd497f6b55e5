// A small vocabulary and helpers of WordPiece's tests.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/tokenisers/wordpiece.h"
#include "tests/data/testing.h"

/// WordPiece cuts through ICU; what needs it is skipped where it was never promised.
#ifdef FOVEA_WITH_ICU
#define NEEDS_ICU() static_cast<void>(0)
#else
#define NEEDS_ICU() GTEST_SKIP() << "built without ICU"
#endif

namespace fovea {

using Texts = std::vector<std::string>;
using Ids = std::vector<int64_t>;

inline Texts small_vocabulary() {
  return {"[PAD]", "[UNK]",  "[CLS]", "[SEP]",    "[MASK]", "un",  "una",  "##aff", "##ffa",
          "##ble", "##able", "the",   "cat",      "##s",    "sat", "mat",  "Cat",   "a",
          "##b",   "##bc",   "cafe",  "café",     "!",      ",",   ".",    "[",     "]",
          "中",    "国",     "i",     "##\u0307", "$",      "ᄀ",  "##ᅡ", "mask",  "σ"};
}

inline WordPiece small_wordpiece(const WordPieceOptions& options = {}) {
  return WordPiece(small_vocabulary(), options, "here");
}

inline WordPieceOptions cased() {
  WordPieceOptions options;
  options.lowercase = false;
  return options;
}

/// The pieces by name.
inline Texts names_of(const WordPiece& tokeniser, const Pieces& pieces) {
  Texts names;
  for (const int64_t id : pieces.ids) names.push_back(tokeniser.piece(id));
  return names;
}

inline Texts cut(const WordPiece& tokeniser, const std::string& text) {
  return names_of(tokeniser, tokeniser.encode(text));
}

inline std::vector<std::pair<int64_t, int64_t>> spans_of(const Pieces& pieces) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const Span& span : pieces.spans) spans.emplace_back(span.begin, span.end);
  return spans;
}

}  // namespace fovea
