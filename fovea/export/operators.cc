#include "fovea/export/operators.h"

#include <cmath>
#include <numbers>

#include "fovea/base/error.h"

namespace fovea::onnx {

Value gelu(const Value& x) {
  return x * 0.5 * ((x / std::numbers::sqrt2).node("Erf") + 1);  // Phi(x) = (1 + erf(x / √2)) / 2
}

Value gelu_tanh(const Value& x) {
  const Value inner = (x + x * x * x * 0.044715) * std::sqrt(2 / std::numbers::pi);
  return x * 0.5 * (tanh(inner) + 1);
}

Value silu(const Value& x) {
  return x * sigmoid(x);
}

Value activate(const Value& x, const std::string& name) {
  if (name == "relu") return relu(x);
  if (name == "gelu") return gelu(x);
  if (name == "gelu-tanh") return gelu_tanh(x);
  if (name == "silu") return silu(x);
  fail(ErrorKind::Unsupported, "export: the activation ", name, " has no ONNX form yet");
}

Value softmax(const Value& x) {
  return x.graph().node("Softmax", {x}, {{"axis", int64_t(-1)}});
}

Value log_softmax(const Value& x) {
  return x.graph().node("LogSoftmax", {x}, {{"axis", int64_t(-1)}});
}

Value sum(const Value& x, int64_t dimension, bool keep_dimension) {
  return x.graph().node("ReduceSum", {x, x.graph().integers({dimension})},
                        {{"keepdims", int64_t(keep_dimension)}});
}

Value largest(const Value& x, int64_t dimension, bool keep_dimension) {
  return x.graph().node(
      "ReduceMax", {x},
      {{"axes", std::vector<int64_t>{dimension}}, {"keepdims", int64_t(keep_dimension)}});
}

Value cumulative_sum(const Value& x) {
  return x.graph().node("CumSum", {x, x.graph().integer(-1)});
}

Value rms_norm(const Value& x, const Value& weight, double epsilon) {
  const Value squares = x.graph().node(
      "ReduceMean", {x * x}, {{"axes", std::vector<int64_t>{-1}}, {"keepdims", int64_t(1)}});
  return x / sqrt(squares + epsilon) * weight;
}

Value layer_norm(const Value& x, const Value& weight, const Value& bias, double epsilon) {
  return x.graph().node("LayerNormalization", {x, weight, bias},
                        {{"axis", int64_t(-1)}, {"epsilon", float(epsilon)}});
}

Value where(const Value& condition, const Value& yes, const Value& no) {
  return condition.graph().node("Where", {condition, yes, no});
}

Value cast(const Value& x, ElementType type) {
  return x.graph().node("Cast", {x}, {{"to", static_cast<int64_t>(type)}});
}

Value any(const Value& x, int64_t dimension, bool keep_dimension) {
  return cast(largest(cast(x, ElementType::Int32), dimension, keep_dimension), ElementType::Bool);
}

Value transpose(const Value& x, const std::vector<int64_t>& order) {
  return x.graph().node("Transpose", {x}, {{"perm", order}});
}

Value unsqueeze(const Value& x, const std::vector<int64_t>& dimensions) {
  return x.graph().node("Unsqueeze", {x, x.graph().integers(dimensions)});
}

Value squeeze(const Value& x, const std::vector<int64_t>& dimensions) {
  return x.graph().node("Squeeze", {x, x.graph().integers(dimensions)});
}

Value reshape(const Value& x, const std::vector<int64_t>& shape) {
  return x.graph().node("Reshape", {x, x.graph().integers(shape)});
}

Value join(const Values& parts, int64_t dimension) {
  Values defined;
  for (const Value& part : parts)
    if (part.defined()) defined.push_back(part);
  if (defined.size() == 1) return defined.front();
  return defined.front().graph().node("Concat", defined, {{"axis", dimension}});
}

Value narrow(const Value& x, int64_t dimension, int64_t begin, const Value& end) {
  Graph& graph = x.graph();
  return graph.node("Slice", {x, graph.integers({begin}), end, graph.integers({dimension})});
}

Values split(const Value& x, int64_t dimension, const std::vector<int64_t>& sizes) {
  return x.graph().node("Split", {x, x.graph().integers(sizes)}, sizes.size(),
                        {{"axis", dimension}});
}

Value select(const Value& x, int64_t dimension, const std::vector<int64_t>& places) {
  return x.graph().node("Gather", {x, x.graph().integers(places)}, {{"axis", dimension}});
}

Value pick(const Value& x, int64_t dimension, int64_t place) {
  return x.graph().node("Gather", {x, x.graph().integer(place)}, {{"axis", dimension}});
}

Value size_of(const Value& x, int64_t dimension) {
  return x.graph().node("Shape", {x}, {{"start", dimension}, {"end", dimension + 1}});
}

Value range(int64_t begin, const Value& count) {
  Graph& graph = count.graph();
  const Value first = graph.integer(begin);
  return graph.node("Range", {first, squeeze(count, {0}) + first, graph.integer(1)});
}

Value filled(const Value& shape, double number) {
  Graph& graph = shape.graph();
  return graph.node("Expand", {graph.number(number), shape});
}

Value rows_of(const Value& table, const Value& numbers) {
  return table.graph().node("Gather", {table, numbers}, {{"axis", int64_t(0)}});
}

Value linear(const Value& x, const Value& weight, const Value& bias) {
  const Value product = matmul(x, transpose(weight, {1, 0}));  // [..., out]
  return bias.defined() ? product + bias : product;
}

namespace {

Value convolve(const std::vector<Value>& inputs, int64_t stride, int64_t padding) {
  return inputs[0].graph().node(
      "Conv", inputs,
      {{"strides", std::vector<int64_t>(2, stride)}, {"pads", std::vector<int64_t>(4, padding)}});
}

}  // namespace

Value convolution(const Value& x, const Value& weight, int64_t stride, int64_t padding) {
  return convolve({x, weight}, stride, padding);
}

Value convolution(const Value& x, const Value& weight, const Value& bias, int64_t stride,
                  int64_t padding) {
  return convolve({x, weight, bias}, stride, padding);
}

Value max_pool(const Value& x, int64_t size, int64_t stride, int64_t padding) {
  return x.graph().node("MaxPool", {x},
                        {{"kernel_shape", std::vector<int64_t>(2, size)},
                         {"strides", std::vector<int64_t>(2, stride)},
                         {"pads", std::vector<int64_t>(4, padding)}});
}

}  // namespace fovea::onnx
