#include "fovea/export/positions.h"

#include <cmath>

#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

/// position times each rate: [N, pairs].
Value angles(const Value& positions, const at::Tensor& rate) {
  const Value position = unsqueeze(cast(positions, ElementType::Float), {1});  // [N, 1]
  return position * positions.graph().constant(rate.to(at::kFloat));
}

}  // namespace

Value positions_of(const Value& x, const Value& first) {
  const Value positions = range(0, size_of(x, 1));
  return first.defined() ? positions + first : positions;
}

Value add_sinusoidal(const Value& x, const Value& positions, int64_t width) {
  const at::Tensor rates = at::exp(at::arange((width + 1) / 2, at::kDouble) *
                                   (-2 * std::log(10000.0) / double(width)));  // 10000^(-2i/width)
  const Value angle = angles(positions, rates);
  const Value pairs =
      join({unsqueeze(sine(angle), {2}), unsqueeze(cosine(angle), {2})}, 2);  // [N, pairs, 2]
  const Value all = reshape(pairs, {0, -1});                                  // [N, 2 pairs]
  return x + narrow(all, 1, 0, x.graph().integers({width}));
}

Value add_learned(const Value& x, const Value& positions, const Value& table) {
  return x + rows_of(table, positions);
}

Value turned(const Value& x, const Value& positions, const at::Tensor& rates) {
  const int64_t half = rates.size(0);
  const Value angle = angles(positions, rates);  // [N, d/2]
  const Value cos = cosine(angle), sin = sine(angle);
  const Values parts = split(x, 3, {half, half});
  const Value &low = parts[0], &high = parts[1];
  return join({low * cos - high * sin, low * sin + high * cos}, 3);
}

}  // namespace fovea::onnx
