// Operations on the values of a graph, beside the plain ones that graph.h has. Each adds one ONNX
// node, or the few that make up what PyTorch does in one; shapes broadcast as there.
#pragma once

#include "fovea/export/graph.h"

namespace fovea::onnx {

Value gelu(const Value& x);  // x Phi(x), the exact form
Value gelu_tanh(const Value& x);
Value silu(const Value& x);
/// By the names of nn/ops/activation.h. Unsupported for others.
Value activate(const Value& x, const std::string& name);

Value softmax(const Value& x);      // over the last dimension
Value log_softmax(const Value& x);  // likewise
Value sum(const Value& x, int64_t dimension, bool keep_dimension);
Value largest(const Value& x, int64_t dimension, bool keep_dimension);
Value cumulative_sum(const Value& x);  // over the last dimension
/// x / sqrt(mean(x^2) + epsilon) * weight, over the last dimension.
Value rms_norm(const Value& x, const Value& weight, double epsilon);
/// (x - mean) / sqrt(var + epsilon) * weight + bias, over the last dimension.
Value layer_norm(const Value& x, const Value& weight, const Value& bias, double epsilon);

Value where(const Value& condition, const Value& yes, const Value& no);
Value cast(const Value& x, ElementType type);
/// Bool x: whether any is true, as bool.
Value any(const Value& x, int64_t dimension, bool keep_dimension);

Value transpose(const Value& x, const std::vector<int64_t>& order);
Value unsqueeze(const Value& x, const std::vector<int64_t>& dimensions);
Value squeeze(const Value& x, const std::vector<int64_t>& dimensions);
Value reshape(const Value& x, const std::vector<int64_t>& shape);  // 0: as it was; -1: the rest
/// The defined ones of `parts`; a single one is returned as it is.
Value join(const Values& parts, int64_t dimension);
/// x[begin … end) of a dimension; `end` int64 [1].
Value narrow(const Value& x, int64_t dimension, int64_t begin, const Value& end);
/// The parts of a dimension, one after the other, that have these sizes.
Values split(const Value& x, int64_t dimension, const std::vector<int64_t>& sizes);
/// Those at these places of a dimension, in this order.
Value select(const Value& x, int64_t dimension, const std::vector<int64_t>& places);
/// The one at this place; the dimension goes away.
Value pick(const Value& x, int64_t dimension, int64_t place);

/// The size of a dimension of x: int64 [1].
Value size_of(const Value& x, int64_t dimension);
/// begin, begin + 1, …, begin + count - 1: int64 [count]. count int64 [1].
Value range(int64_t begin, const Value& count);
/// float32 `number` everywhere. shape int64 [n].
Value filled(const Value& shape, double number);

/// Rows of a table [N, D] by their numbers, [...] -> [..., D].
Value rows_of(const Value& table, const Value& numbers);

/// x W^T + b for x [..., in], weight [out, in] and, where there is one, bias [out].
Value linear(const Value& x, const Value& weight, const Value& bias = {});

/// Square windows over x [B, C, height, width], moved by `stride`, with a border of `padding`.
/// weight [out, in, size, size]
Value convolution(const Value& x, const Value& weight, int64_t stride, int64_t padding);
/// With a bias for each channel.
Value convolution(const Value& x, const Value& weight, const Value& bias, int64_t stride,
                  int64_t padding);
Value max_pool(const Value& x, int64_t size, int64_t stride, int64_t padding);

}  // namespace fovea::onnx
