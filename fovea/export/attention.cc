#include "fovea/export/attention.h"

#include "fovea/base/error.h"

namespace fovea::onnx {

AttendedValues attend(const AttentionLayer& layer, const AttendValues& in) {
  const AlignedValues aligned = align(layer.alignment, layer.alignment_weights, in);
  const Value keep = both(in.keep, aligned.window);
  Value scores = score(layer.score, layer.score_weights, in);  // [B, H, Q, K]
  if (in.bias.defined()) scores = scores + in.bias;
  Value weights = normalise(layer.normaliser, scores, keep);  // [B, H, Q, K]
  if (aligned.factor.defined()) weights = weights * aligned.factor;
  return {matmul(weights, in.values), weights};
}

bool reads_previous_weights(const ScoreOptions& score, const AlignmentOptions& alignment) {
  return score.traits().reads_previous_weights || alignment.traits().reads_previous_weights;
}

Value query_positions(const AttendValues& in) {
  const Value place = range(0, size_of(in.query, 2));
  return in.first_position.defined() ? place + in.first_position : place;
}

Value masked(const Value& x, const Value& keep, double other) {
  return keep.defined() ? where(keep, x, x.graph().number(other)) : x;
}

Value both(const Value& left, const Value& right) {
  if (!left.defined()) return right;
  return right.defined() ? left & right : left;
}

void refuse_export(const std::string& kind, const std::string& name) {
  fail(ErrorKind::Unsupported, "export: ", kind, " '", name,
       "' has no ONNX form; docs/formats/onnx.md lists those that have one");
}

}  // namespace fovea::onnx
