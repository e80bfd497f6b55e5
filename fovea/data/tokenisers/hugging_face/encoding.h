// A text as numbers, with all that is known of each token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct Offsets {
  int64_t begin = 0, end = 0;
  bool operator==(const Offsets&) const = default;
};

/// What Hugging Face's tokenizers give for a text or a pair of texts: columns of equal length.
struct Encoding {
  std::vector<int64_t> ids;
  std::vector<std::string> tokens;
  std::vector<Offsets> offsets;       // characters of the text that the token comes from
  std::vector<Offsets> bytes;         // the same in bytes
  std::vector<int64_t> type_ids;      // segment
  std::vector<int64_t> word_ids;      // number of the word, or -1 for special tokens
  std::vector<int64_t> sequence_ids;  // 0 or 1: first or second text; -1 for special tokens
  std::vector<bool> special;          // added around the texts, not found in them
  std::vector<bool> attention;        // false: padding
  std::vector<Encoding> overflowing;  // what truncation cut off, in windows

  size_t size() const { return ids.size(); }
  void reserve(size_t tokens_expected) {
    ids.reserve(tokens_expected);
    tokens.reserve(tokens_expected);
    offsets.reserve(tokens_expected);
    bytes.reserve(tokens_expected);
    for (auto* column : {&type_ids, &word_ids, &sequence_ids}) column->reserve(tokens_expected);
    for (auto* column : {&special, &attention}) column->reserve(tokens_expected);
  }
};

namespace hugging_face {

/// A row of an Encoding.
struct EncodedToken {
  int64_t id = 0;
  std::string text;
  Offsets offsets = {};
  int64_t type_id = 0, word_id = -1, sequence_id = -1;
  bool special = true, attention = true;
};
using Tokens = std::vector<EncodedToken>;

}  // namespace hugging_face

}  // namespace fovea
