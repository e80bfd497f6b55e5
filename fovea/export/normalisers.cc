// Normalisers as nodes; the formulas stand in attention/normaliser.h.
#include <limits>

#include "fovea/export/attention.h"

namespace fovea::onnx {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// -inf where masked, and 0 throughout a row without keys.
Value filled_scores(const Value& scores, const Value& keep) {
  if (!keep.defined()) return scores;
  return masked(masked(scores, keep, -kInfinity), any(keep, -1, true), 0);
}

Value softmax_of(const Value& scores, const Value& keep) {
  return masked(onnx::softmax(filled_scores(scores, keep)), keep, 0);
}

/// The scores of each row from the largest to the smallest, and their places: [..., count]. The
/// first of equal scores comes first. count int64 [1]
Values sorted(const Value& scores, const Value& count) {
  return scores.graph().node("TopK", {scores, count}, 2, {{"axis", int64_t(-1)}});
}

/// The number of keys: int64 [1].
Value keys_of(const Value& scores) {
  Graph& graph = scores.graph();
  return graph.node("Shape", {scores}, {{"start", int64_t(-1)}});
}

/// 1 at the likeliest key of each row.
Value likeliest(const Value& weights, const Value& keep) {
  Graph& graph = weights.graph();
  const Value place = graph.node("ArgMax", {weights}, {{"axis", int64_t(-1)}});  // [..., 1]
  return masked(cast(range(0, keys_of(weights)) == place, ElementType::Float), keep, 0);
}

Value plain_softmax(const NormaliserOptions&, const Value& scores, const Value& keep) {
  return softmax_of(scores, keep);
}

Value smoothing(const NormaliserOptions&, const Value& scores, const Value& keep) {
  return softmax_of(-softplus(-scores), keep);  // log sig(e) = -log(1 + exp(-e))
}

Value temperature(const NormaliserOptions& options, const Value& scores, const Value& keep) {
  return softmax_of(scores / options.temperature, keep);
}

Value top_k(const NormaliserOptions& options, const Value& scores, const Value& keep) {
  Graph& graph = scores.graph();
  const Value count = minimum(graph.integers({options.top_k}), keys_of(scores));
  const Value places = sorted(filled_scores(scores, keep), count)[1];  // [..., count]
  const Value none = filled(graph.node("Shape", {scores}), 0);
  const Value ones = filled(graph.node("Shape", {places}), 1);
  const Value top =
      graph.node("ScatterElements", {none, places, ones}, {{"axis", int64_t(-1)}});  // [..., K]
  return softmax_of(scores, both(keep, cast(top, ElementType::Bool)));
}

Value sparsemax(const NormaliserOptions&, const Value& scores, const Value& keep) {
  Graph& graph = scores.graph();
  const Value visible = filled_scores(scores, keep);
  const Value z = maximum(visible - largest(visible, -1, true), graph.number(-2));
  const Value falling = sorted(z, keys_of(z))[0];
  const Value rank = cast(range(1, keys_of(z)), ElementType::Float);
  const Value in_support = rank * falling + 1 > cumulative_sum(falling);
  const Value count = sum(cast(in_support, ElementType::Int64), -1, true);  // [..., 1]
  const Value smallest =
      graph.node("GatherElements", {falling, count - graph.integer(1)}, {{"axis", int64_t(-1)}});
  const Value support = ~(z < smallest);
  const Value size = sum(cast(support, ElementType::Float), -1, true);
  const Value tau = (sum(masked(z, support, 0), -1, true) - 1) / size;
  return masked(z - tau, both(support, keep), 0);
}

Value hard(const NormaliserOptions&, const Value& scores, const Value& keep) {
  return likeliest(softmax_of(scores, keep), keep);
}

Value gumbel(const NormaliserOptions& options, const Value& scores, const Value& keep) {
  return likeliest(softmax_of(scores / options.temperature, keep), keep);
}

Value gate(const NormaliserOptions&, const Value& scores, const Value& keep) {
  return masked(sigmoid(scores), keep, 0);
}

struct NormaliserRow {
  const char* name;
  Value (*apply)(const NormaliserOptions&, const Value&, const Value&);
};

constexpr NormaliserRow kNormalisers[] = {
    {"softmax", plain_softmax}, {"smoothing", smoothing}, {"temperature", temperature},
    {"top-k", top_k},           {"sparsemax", sparsemax}, {"hard", hard},
    {"gumbel", gumbel},         {"gate", gate},
};

}  // namespace

Value normalise(const NormaliserOptions& options, const Value& scores, const Value& keep) {
  for (const NormaliserRow& row : kNormalisers)
    if (row.name == options.name) return row.apply(options, scores, keep);
  refuse_export("normaliser", options.name);
}

}  // namespace fovea::onnx
