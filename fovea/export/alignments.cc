// Alignments as nodes; the formulas stand in attention/alignment.h.
#include <limits>

#include "fovea/export/attention.h"

namespace fovea::onnx {

namespace {

/// 0, 1, … over the keys: int64 [K].
Value key_places(const AttendValues& in) {
  return range(0, size_of(in.values, 2));
}

/// How far each key lies behind each query: int64 [Q, K].
Value distances(const AttendValues& in) {
  return key_places(in) - unsqueeze(query_positions(in), {1});
}

AlignedValues global(const AlignmentOptions&, const Weights&, const AttendValues&) {
  return {};
}

AlignedValues causal(const AlignmentOptions&, const Weights&, const AttendValues& in) {
  return {distances(in) < in.query.graph().integer(1), {}};
}

AlignedValues band(const AlignmentOptions& options, const Weights&, const AttendValues& in) {
  return {absolute(distances(in)) < in.query.graph().integer(options.half_width + 1), {}};
}

/// One more than the place of the last key that may be looked at: float [b, h, q, 1] or [1].
Value length(const AttendValues& in) {
  if (!in.keep.defined()) return cast(size_of(in.values, 2), ElementType::Float);
  const Value place = cast(range(1, size_of(in.values, 2)), ElementType::Float);  // [K]
  return largest(place * cast(in.keep, ElementType::Float), -1, true);
}

AlignedValues local_p(const AlignmentOptions& options, const Weights& weights,
                      const AttendValues& in) {
  Graph& graph = in.query.graph();
  const Value share = sigmoid(
      weights.linear("energy", tanh(weights.linear("position", in.query))));  // [B, H, Q, 1]
  const Value key = cast(key_places(in), ElementType::Float);
  const Value distance = key - share * length(in);  // [B, H, Q, K]
  const double deviation = double(options.half_width) / 2;
  return {~(absolute(distance) > graph.number(double(options.half_width))),
          exp(distance * distance * (-0.5 / (deviation * deviation)))};
}

AlignedValues median(const AlignmentOptions& options, const Weights&, const AttendValues& in) {
  Graph& graph = in.query.graph();
  const Value cumulative = cumulative_sum(in.previous_weights);
  const Value end = graph.integers({std::numeric_limits<int64_t>::max()});
  const Value total = narrow(cumulative, 3, -1, end);  // [B, H, Q, 1]
  const Value before = cast(cumulative < total / 2, ElementType::Int64);
  const Value distance = key_places(in) - sum(before, -1, true);  // from the median
  const Value near = ~(distance < graph.integer(-options.half_width)) &
                     (distance < graph.integer(options.half_width));
  return {near | ~(total > graph.number(0)), {}};  // without a median: everywhere
}

struct Row {
  const char* name;
  AlignedValues (*align)(const AlignmentOptions&, const Weights&, const AttendValues&);
  bool reads_position;
};

constexpr Row kAlignments[] = {
    {"global", global, false}, {"causal", causal, true},    {"window", band, true},
    {"local-m", band, true},   {"local-p", local_p, false}, {"median", median, false},
};

const Row& find(const AlignmentOptions& options) {
  for (const Row& row : kAlignments)
    if (row.name == options.name) return row;
  refuse_export("alignment", options.name);
}

}  // namespace

bool reads_position(const AlignmentOptions& options) {
  return find(options).reads_position;
}

AlignedValues align(const AlignmentOptions& options, const Weights& weights,
                    const AttendValues& in) {
  return find(options).align(options, weights, in);
}

}  // namespace fovea::onnx
