// attention/attend.h as nodes of a graph, for any number of heads and queries. Each kind of score,
// normaliser and alignment has one table here, with the names of attention/'s tables; a name that
// is missing is refused with its name. Nothing is drawn: hard and gumbel take the likeliest key. A
// query that sees nothing gets zero weights and zero context. NaN is not followed to the query that
// looked at it.
#pragma once

#include "fovea/attention/alignment.h"
#include "fovea/attention/normaliser.h"
#include "fovea/attention/score.h"
#include "fovea/export/weights.h"

namespace fovea::onnx {

struct AttendValues {
  Value query;             // [B, H, Q, Dq]
  Value keys;              // [B, H or 1, K, F], from prepare_keys()
  Value values;            // [B, H or 1, K, Dv]
  Value keep;              // bool, broadcasts to [B, H, Q, K], true = may be looked at; empty: all
  Value first_position;    // int64 [1], of query 0; empty: 0. Read by causal, window and local-m
  Value previous_weights;  // [B, H, Q, K], 0 at first; read by location-aware and median
  Value bias;              // broadcasts to [B, H, Q, K], added to the scores; empty: none
};

struct AttendedValues {
  Value context;  // [B, H, Q, Dv]
  Value weights;  // [B, H, Q, K]
};

struct AttentionLayer {
  ScoreOptions score;  // key_size must be set
  NormaliserOptions normaliser;
  AlignmentOptions alignment;
  Weights score_weights, alignment_weights;
};

AttendedValues attend(const AttentionLayer& layer, const AttendValues& in);

/// What of a score depends on the keys alone. keys [B, H, K, Dk] -> [B, H, K, F]
Value prepare_keys(const ScoreOptions& options, const Weights& weights, const Value& keys);
/// Whether that changes the keys, and whether the score looks at them at all.
bool prepares_keys(const ScoreOptions& options);
bool reads_keys(const ScoreOptions& options);

/// -> [B, H, Q, K]
Value score(const ScoreOptions& options, const Weights& weights, const AttendValues& in);

/// scores [..., K] -> weights [..., K]. keep may be empty: all.
Value normalise(const NormaliserOptions& options, const Value& scores, const Value& keep);

struct AlignedValues {
  Value window;  // bool, broadcasts to [B, H, Q, K]; empty: all
  Value factor;  // [B, H, Q, K], multiplies the weights; empty: none
};
AlignedValues align(const AlignmentOptions& options, const Weights& weights,
                    const AttendValues& in);

/// Whether the position of the query, or the weights of the step before, decide where it looks.
bool reads_position(const AlignmentOptions& options);
bool reads_previous_weights(const ScoreOptions& score, const AlignmentOptions& alignment);

/// Where each query stands: int64 [Q].
Value query_positions(const AttendValues& in);

/// Numbers where `keep`, else `other`; keep may be empty.
Value masked(const Value& x, const Value& keep, double other);
/// Where both are true; one or both may be empty.
Value both(const Value& left, const Value& right);

/// Unsupported, with the name that has no ONNX form.
[[noreturn]] void refuse_export(const std::string& kind, const std::string& name);

/// The score functions that have an ONNX form; others are refused by name.
std::vector<std::string> exported_scores();

}  // namespace fovea::onnx
