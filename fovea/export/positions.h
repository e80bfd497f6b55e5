// nn/transformer/positions.h and the rotary positions of attention/multi_head.h as nodes. Angles
// are made in the graph, so that there is no longest sequence but for learned tables; there a
// position beyond the table is an error of the runtime.
#pragma once

#include "fovea/export/weights.h"

namespace fovea::onnx {

/// Of a sequence x [B, N, …]: first, first + 1, …, int64 [N]. first int64 [1], or empty: 0.
Value positions_of(const Value& x, const Value& first = {});

/// x [B, N, D] + PE(position). positions int64 [N]
Value add_sinusoidal(const Value& x, const Value& positions, int64_t width);
/// x [B, N, D] + a row of the table [maximum, D]. positions int64 [N]
Value add_learned(const Value& x, const Value& positions, const Value& table);

/// x [B, H, N, d] turned by its positions, dimension i together with i + d/2. positions int64 [N];
/// rates [d / 2], rotary_rates() of attention/multi_head.h
Value turned(const Value& x, const Value& positions, const at::Tensor& rates);

}  // namespace fovea::onnx
