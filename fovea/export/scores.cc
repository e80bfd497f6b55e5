// Score functions as nodes; the formulas stand in the files of attention/scores/.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/export/attention.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

Value unchanged(const Weights&, const Value& keys) {
  return keys;
}

Value projected(const Weights& weights, const Value& keys) {
  return weights.linear("key", keys);  // [B, H, K, m]
}

Value by_matrix(const Weights& weights, const Value& keys) {
  return linear(keys, weights.value(keys.graph(), "weight"));  // [B, H, K, Dq]
}

/// query [B, H, Q, D], keys [B, H, K, D] -> [B, H, Q, K]
Value products(const Value& query, const Value& keys) {
  return matmul(query, transpose(keys, {0, 1, 3, 2}));
}

Value dot(const ScoreOptions&, const Weights&, const AttendValues& in) {
  return products(in.query, in.keys);
}

Value scaled_dot(const ScoreOptions& options, const Weights&, const AttendValues& in) {
  require(options.key_size > 0, ErrorKind::Internal, "export: the size of a key is not known");
  return products(in.query * (1 / std::sqrt(double(options.key_size))), in.keys);
}

Value content(const ScoreOptions&, const Weights& weights, const AttendValues& in) {
  const auto norm = [](const Value& x) { return sqrt(sum(x * x, -1, false)); };
  const Value norms = unsqueeze(norm(in.query), {-1}) * unsqueeze(norm(in.keys), {-2});
  const Value beta = softplus(weights.value(in.query.graph(), "raw_sharpness"));  // [1]
  return beta * products(in.query, in.keys) / (norms + 1e-8);
}

/// What tanh is taken of: [B, H, Q, K, m].
Value query_and_key(const Weights& weights, const AttendValues& in) {
  return unsqueeze(weights.linear("query", in.query), {-2}) + unsqueeze(in.keys, {-3});
}

Value energy(const Weights& weights, const Value& x) {
  return squeeze(weights.linear("energy", tanh(x)), {-1});  // [B, H, Q, K]
}

Value additive(const ScoreOptions&, const Weights& weights, const AttendValues& in) {
  return energy(weights, query_and_key(weights, in));
}

Value location_base(const ScoreOptions&, const Weights& weights, const AttendValues& in) {
  const Value rows =
      narrow(weights.value(in.query.graph(), "weight"), 0, 0, size_of(in.values, 2));  // [K, Dq]
  return linear(in.query, rows);
}

/// L (F * previous weights): [B, H, Q, K, m].
Value location(const Weights& weights, const Value& previous) {
  Graph& graph = previous.graph();
  const int64_t half = weights.tensor("filters").size(2) / 2;
  const Value shape = graph.node("Shape", {previous});  // [4]
  const Value rows = graph.node(
      "Reshape", {previous, join({graph.integers({-1, 1}), size_of(previous, 3)}, 0)});  // [N,1,K]
  const Value convolved = graph.node("Conv", {rows, weights.value(graph, "filters")},
                                     {{"pads", std::vector<int64_t>{half, half}}});    // [N, f, K]
  const Value features = weights.linear("location", transpose(convolved, {0, 2, 1}));  // [N, K, m]
  return graph.node("Reshape", {features, join({shape, graph.integers({-1})}, 0)});
}

Value location_aware(const ScoreOptions&, const Weights& weights, const AttendValues& in) {
  return energy(weights, query_and_key(weights, in) + location(weights, in.previous_weights));
}

struct ScoreRow {
  const char* name;
  Value (*prepare)(const Weights&, const Value&);  // unchanged: the keys as they are; null: none
  Value (*score)(const ScoreOptions&, const Weights&, const AttendValues&);
};

constexpr ScoreRow kScores[] = {
    {"content", unchanged, content},
    {"additive", projected, additive},
    {"location-base", nullptr, location_base},
    {"general", by_matrix, dot},
    {"dot", unchanged, dot},
    {"scaled-dot", unchanged, scaled_dot},
    {"location-aware", projected, location_aware},
};

const ScoreRow& find_score_row(const ScoreOptions& options) {
  for (const ScoreRow& row : kScores)
    if (row.name == options.name) return row;
  refuse_export("score", options.name);
}

}  // namespace

std::vector<std::string> exported_scores() {
  std::vector<std::string> names;
  for (const ScoreRow& row : kScores) names.emplace_back(row.name);
  return names;
}

bool reads_keys(const ScoreOptions& options) {
  return find_score_row(options).prepare != nullptr;
}

bool prepares_keys(const ScoreOptions& options) {
  return reads_keys(options) && find_score_row(options).prepare != unchanged;
}

Value prepare_keys(const ScoreOptions& options, const Weights& weights, const Value& keys) {
  return prepares_keys(options) ? find_score_row(options).prepare(weights, keys) : keys;
}

Value score(const ScoreOptions& options, const Weights& weights, const AttendValues& in) {
  return find_score_row(options).score(options, weights, in);
}

}  // namespace fovea::onnx
