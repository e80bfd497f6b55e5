// What queries look at, made ready once per sequence: keys as the score function prepared them,
// values, and who may be looked at. A decoder makes one Memory and attends to it at every step.
// Keys and values that no query may see, or that are not finite, are replaced by 0 before any
// product (0 * NaN is NaN, forward and backward); attend() gives NaN to exactly the queries that
// may look at a broken one.
#pragma once

#include <ATen/core/Tensor.h>

#include "fovea/attention/mask.h"
#include "fovea/attention/score.h"

namespace fovea {

struct Memory {
  at::Tensor keys;    // [B, H or 1, K, F], prepared; undefined when the caller brings scores
  at::Tensor values;  // [B, H or 1, K, Dv]
  at::Tensor broken;  // bool [B, H or 1, K]: key or value is not finite; undefined when all are
                      // known to be
  KeepMask mask;

  int64_t size() const { return values.size(2); }  // K

  /// The examples of `rows` (int64 [R], repetition allowed), for beams.
  Memory select(const at::Tensor& rows) const;

  /// These keys, then `more`'s, for a cache that grows by a step. The masks must not depend on the
  /// query.
  Memory followed_by(const Memory& more) const;
};

/// keys [B, K, Dk] or [B, H, K, Dk]; values [B, K, Dv] or [B, H, K, Dv].
Memory remember(const ScoreFunction& score, const at::Tensor& keys, const at::Tensor& values,
                const KeepMask& mask);

/// Values alone, for scores that the caller computes himself. values [B, K, Dv] or [B, H, K, Dv].
Memory remember_values(const at::Tensor& values, const KeepMask& mask);

/// x [B, H, K, D] with 0 at unseen and at broken places, and which places were broken.
struct Cleaned {
  at::Tensor tensor;  // [B, H, K, D]
  at::Tensor broken;  // bool [B, H, K]; undefined when known to be all false
};
Cleaned clean_keys(const at::Tensor& x, const KeepMask& mask);

/// x [B, H, Q, D] with 0 in the rows of queries that see nothing.
at::Tensor clean_queries(const at::Tensor& x, const KeepMask& mask);

/// [B, N, D] -> [B, 1, N, D]; four dimensions stay. `what` names the tensor in an error.
at::Tensor with_heads(const at::Tensor& x, const char* what);

/// Either undefined, or the places broken in one or the other.
at::Tensor either_broken(const at::Tensor& left, const at::Tensor& right);

}  // namespace fovea
