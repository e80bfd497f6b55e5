// Attention of single queries, each to a list of keys of its own, as in one step of a search where
// several hypotheses share a source and a beginning:
//   dot        e_j = c q . k_j                        for each head
//   additive   e_j = u . tanh(q + k_j)                one head
//   a = softmax(e)      out = sum_j a_j v_j           0 for a row without keys
// A list holds the addresses of its keys, so that hypotheses share what they have in common and
// change their order without moving a number. A key's value lies `value_offset` floats behind it.
// Work is cut into slices of kDecodeAttentionRows rows; a row gives the same bits in any batch.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr int64_t kDecodeAttentionRows = 16;  // rows of one slice

struct DecodeAttentionShape {
  int64_t rows = 0;                  // R
  int64_t heads = 1, key_heads = 1;  // H, G: heads of queries share one of keys, G divides H
  int64_t key_size = 0;              // of a head
  int64_t value_size = 0;            // of a head
  int64_t value_offset = 0;          // from a key's first number to its value's
  int64_t longest = 0;               // of all lists
  float scale = 1;                   // c
  const float* energy = nullptr;     // u [key_size]; null: dot

  int64_t slices() const { return (rows + kDecodeAttentionRows - 1) / kDecodeAttentionRows; }
  int64_t scratch() const;  // floats of working memory of one running slice
};

struct DecodeAttentionRows {
  const float* queries;              // [R, H key_size]
  int64_t query_row;                 // numbers between two rows
  const float* const* const* lists;  // [R]: the keys of each row, [G key_size] numbers each
  const int64_t* counts;             // [R]: how many, at most `longest`
  float* out;                        // [R, H value_size]
};

void decode_attention(const DecodeAttentionShape& shape, int64_t slice,
                      const DecodeAttentionRows& at, float* scratch);

}  // namespace fovea::kernels
