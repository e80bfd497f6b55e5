// attend() without the matrix: the bridge to kernels/fused_attention on a CPU, and to LibTorch's
// own fused kernels on a GPU. Memory is linear in the length. A tap that records on demand gets a
// WeightSource: queries, keys and the row's log-sum-exp are kept, and exact weights of any rows are
// rebuilt when they are asked for. Dropout is the readable path's, bit for bit, on a CPU.
#pragma once

#include "fovea/attention/attend.h"

namespace fovea {

/// Dot products, softmax, a mask of padding and bands alone, finite memory; nothing needs weights.
bool can_fuse(const AttendInput& input, const Tap* tap);

Attended attend_fused(const AttendInput& input, Tap* tap);

}  // namespace fovea
