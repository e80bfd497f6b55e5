// Attention of one step of a search, where every row has one query: kernels/decode_attention. Rows
// look at lists of addresses, so that hypotheses of one source share its keys and values, and
// neither is copied when rows change places.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "fovea/attention/memory.h"

namespace fovea {

/// The entries that one row looks at: keys, each with its value behind it.
using KeyList = std::span<const float* const>;

/// What all rows have in common.
struct DecodeAttention {
  int64_t heads = 1, key_heads = 1;
  int64_t key_size = 0, value_size = 0;  // of a head
  double scale = 1;
  at::Tensor energy;  // [key_size]: additive scores energy . tanh(query + key); undefined: dots

  /// queries [R, heads key_size], rows of any stride; an entry has key_heads (key_size +
  /// value_size) numbers -> [R, heads value_size]
  at::Tensor attend(const at::Tensor& queries, const std::vector<KeyList>& lists) const;
};

/// Keys and values of the sources that a search looks at, as entries.
class SourceKeys {
 public:
  /// Whether a memory can be looked at this way: float32 on a CPU, all of it finite, and a mask of
  /// keys alone.
  static bool fits(const Memory& memory);

  explicit SourceKeys(const Memory& memory);

  /// The entries of an example that may be looked at.
  KeyList of(int64_t example) const { return lists_[size_t(example)]; }

 private:
  at::Tensor entries_;  // [B, S, G (F + Dv)]
  std::vector<std::vector<const float*>> lists_;
};

}  // namespace fovea
