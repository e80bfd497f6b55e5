// The one mask type of the project, with one meaning: true = this query MAY look at this key. A
// KeepMask is made by a named constructor, combined with &, and broadcast to [B, H, Q, K]; no
// function here takes a bare bool tensor, because libraries disagree on what true means in one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace fovea {

class KeepMask {
 public:
  /// Everything may be looked at.
  KeepMask() = default;
  static KeepMask all() { return {}; }

  /// Key j of example b may be looked at when j < lengths[b]. lengths: integers [B].
  static KeepMask from_lengths(const at::Tensor& lengths, int64_t max);

  /// true = may be looked at. keep: bool [B, K], [B, Q, K] or [B, H, Q, K]; each size may be 1.
  static KeepMask from_keep(const at::Tensor& keep);

  /// Queries that are padding see nothing, so their rows are zero. keep: bool [B, Q], true = a real
  /// query.
  static KeepMask from_queries(const at::Tensor& keep);

  /// Query i stands at position first_query + i and sees the keys up to and including itself.
  static KeepMask causal(int64_t queries, int64_t keys, int64_t first_query = 0);

  /// Query i stands at position first_query + i and sees the keys at most half_width away, on both
  /// sides.
  static KeepMask window(int64_t queries, int64_t keys, int64_t half_width,
                         int64_t first_query = 0);

  /// Keys s with |s - center| <= half_width. centers: real numbers [B, H, Q]; each size may be 1.
  static KeepMask local(const at::Tensor& centers, int64_t keys, double half_width);

  /// Keys that both masks keep.
  KeepMask operator&(const KeepMask& other) const;

  bool is_all() const { return !keep_.defined(); }
  /// bool [b, h, q, k], each size full or 1; undefined when is_all().
  const at::Tensor& keep() const { return keep_; }

  /// Queries that see at least one key: bool [b, h, q, 1]; undefined when is_all().
  at::Tensor seeing_queries() const;
  /// Keys that at least one query sees: bool [b, h, 1, k]; undefined when is_all().
  at::Tensor seen_keys() const;

  KeepMask to(const at::Device& device) const;

  /// Expanded to `sizes` [B, H, Q, K], undefined when is_all(). InvalidArgument when it does not
  /// fit.
  at::Tensor expand(at::IntArrayRef sizes) const;

 private:
  explicit KeepMask(at::Tensor keep) : keep_(std::move(keep)) {}
  at::Tensor keep_;
};

}  // namespace fovea
