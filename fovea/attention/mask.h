// The one mask type of the project, with one meaning: true = this query MAY look at this key. A
// KeepMask is made by a named constructor, combined with &, and broadcast to [B, H, Q, K]; no
// function here takes a bare bool tensor, because libraries disagree on what true means in one.
// It remembers what it is made of: keys that are padding, queries that are padding, a band along
// the diagonal, and the rest. Fused kernels take the first three as they are, so that a mask of a
// long sequence never becomes Q times K numbers; keep() makes the whole, when somebody asks.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace fovea {

/// Query i stands at position first_query + i and sees the keys j with
/// low <= j - (first_query + i) <= high.
struct MaskBand {
  static constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  int64_t low = -kFar, high = kFar;
  int64_t first_query = 0;
  int64_t queries = 0, keys = 0;  // Q, K
};

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

  bool is_all() const { return !keys_.defined() && !queries_.defined() && !band_ && is_simple(); }
  /// bool [b, h, q, k], each size full or 1; undefined when is_all().
  const at::Tensor& keep() const;
  /// The sizes of keep() [b, h, q, k].
  std::array<int64_t, 4> sizes() const;

  // What it is made of: a key is kept where all of these keep it.
  const at::Tensor& keys() const { return keys_; }        // bool [b, 1, 1, k] or undefined
  const at::Tensor& queries() const { return queries_; }  // bool [b, 1, q, 1] or undefined
  const std::optional<MaskBand>& band() const { return band_; }
  bool is_simple() const { return !rest_.defined(); }  // there is nothing else

  /// Queries that see at least one key: bool [b, h, q, 1]; undefined when is_all().
  at::Tensor seeing_queries() const;
  /// Keys that at least one query sees: bool [b, h, 1, k]; undefined when is_all().
  at::Tensor seen_keys() const;

  KeepMask to(const at::Device& device) const;
  /// The examples of `rows` (int64 [R]).
  KeepMask select(const at::Tensor& rows) const;

  /// Expanded to `sizes` [B, H, Q, K], undefined when is_all(). InvalidArgument when it does not
  /// fit.
  at::Tensor expand(at::IntArrayRef sizes) const;

 private:
  at::Tensor keys_, queries_, rest_;  // bool [b, h, q, k], each size full or 1
  std::optional<MaskBand> band_;
  at::Device device_ = at::kCPU;  // of keep(): a mask made without data follows one that has some
  mutable at::Tensor keep_;       // made when it is first asked for
};

}  // namespace fovea
