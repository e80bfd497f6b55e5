#include "fovea/export/positions.h"

#include <cmath>

#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

/// position / 10000^(2i/width) for i = 0 … pairs - 1: [N, pairs].
Value angles(const Value& positions, int64_t pairs, int64_t width) {
  const auto rate =
      at::exp(at::arange(pairs, at::kDouble) * (-2 * std::log(10000.0) / double(width)));
  const Value position = unsqueeze(cast(positions, ElementType::Float), {1});  // [N, 1]
  return position * positions.graph().constant(rate.to(at::kFloat));
}

}  // namespace

Value positions_of(const Value& x, const Value& first) {
  const Value positions = range(0, size_of(x, 1));
  return first.defined() ? positions + first : positions;
}

Value add_sinusoidal(const Value& x, const Value& positions, int64_t width) {
  const Value angle = angles(positions, (width + 1) / 2, width);
  const Value pairs =
      join({unsqueeze(sine(angle), {2}), unsqueeze(cosine(angle), {2})}, 2);  // [N, pairs, 2]
  const Value all = reshape(pairs, {0, -1});                                  // [N, 2 pairs]
  return x + narrow(all, 1, 0, x.graph().integers({width}));
}

Value add_learned(const Value& x, const Value& positions, const Value& table) {
  return x + rows_of(table, positions);
}

Value turned(const Value& x, const Value& positions, int64_t head_size) {
  const int64_t half = head_size / 2;
  const Value angle = angles(positions, half, head_size);  // [N, d/2]
  const Value cos = cosine(angle), sin = sine(angle);
  const Values parts = split(x, 3, {half, half});
  const Value &low = parts[0], &high = parts[1];
  return join({low * cos - high * sin, low * sin + high * cos}, 3);
}

}  // namespace fovea::onnx
