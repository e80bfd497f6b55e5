// The one call of attention: scores, normaliser and alignment together.
//   e = score(query, keys)
//   e = e + bias, where the caller has one                  (T5's relative positions, Raffel 2020)
//   e = e - slope_h |position of the query - position of the key|, with slopes    (ALiBi, Press
//   2022) a = normalise(e over the keys that mask and alignment leave), times the Gaussian for
//   local-p context = a values
// Two paths compute it. The readable one holds every weight as a tensor. The fused one (fused.h)
// never does; it is taken for dot products with softmax whenever nothing needs the whole matrix:
// neither the caller (keep_weights) nor a tap that wants live weights.
// Pure: nothing is kept between calls. A fully masked query gets zero weights, zero context and
// zero gradient. Whatever stands at a masked place, NaN and infinity included, reaches neither
// result nor gradient; a query that MAY look at a key or value that is not finite gets NaN, and no
// other query does.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "fovea/attention/alignment.h"
#include "fovea/attention/mask.h"
#include "fovea/attention/memory.h"
#include "fovea/attention/normaliser.h"
#include "fovea/attention/score.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/tap.h"

namespace fovea {

/// Under which name and axes the weights are reported to a tap.
struct MapLabel {
  std::string name = "attention";
  std::string query_axis;
  std::string key_axis;
  int64_t layer = 0;  // of stacked attention, from 1
};

/// A map to report under that label.
AttentionMap labelled_map(const MapLabel& label, const at::Tensor& weights,
                          MapKind kind = MapKind::Distribution);

struct AttendInput {
  at::Tensor query;                      // [B, Q, Dq] or [B, H, Q, Dq]
  Memory memory;                         // from remember()
  const ScoreFunction* score = nullptr;  // the one that the memory was made with
  at::Tensor scores;                     // [B, H, Q, K], instead of query and score
  KeepMask mask;                         // of this call, on top of the memory's
  NormaliserOptions normaliser;
  const Alignment* alignment = nullptr;  // null: global
  int64_t first_position = 0;            // position of query 0, for causal, window and local-m
  at::Tensor previous_weights;   // [B, H, Q, K], for location-aware and median; undefined at first
  at::Tensor sharpness;          // [B, H, Q], for content (NTM's beta); may be undefined
  std::optional<Random> random;  // dropout, hard, gumbel; without it these take the likeliest key
  at::Tensor chosen;   // int64 [B, H, Q]: choices of hard or gumbel to repeat; may be undefined
  double dropout = 0;  // of the weights, after they are reported; needs random
  at::Tensor slopes;   // [H]: ALiBi; may be undefined
  at::Tensor bias;     // [1 or B, H, Q, K], added to the scores; may be undefined
  bool keep_weights = true;  // no: Attended::weights may stay undefined
  bool caller_clears_fully_masked =
      false;  // what fully_masked queries see may be anything finite, not only 0
  MapLabel map;
};

struct Attended {
  /// [B, Q, Dv] for a query [B, Q, Dq] and one head, else [B, H, Q, Dv].
  at::Tensor context;
  at::Tensor weights;  // [B, H, Q, K], before dropout; what the tap returned, when there is one;
                       // undefined from the fused path
  at::Tensor log_probability;  // [B, H, Q] for hard, else undefined
  at::Tensor chosen;           // int64 [B, H, Q] for hard and gumbel, else undefined
  at::Tensor center;           // [B, H, Q] p_t for local-p and median, else undefined
  KeepMask mask;               // the memory's, the call's and the alignment's together
  at::Tensor fully_masked;  // bool [b, h, q, 1]: queries that see nothing; undefined when all see
                            // something
};

Attended attend(const AttendInput& input, Tap* tap = nullptr);

}  // namespace fovea
