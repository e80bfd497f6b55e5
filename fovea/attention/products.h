// What a weight is made of where the score is a dot product: query and key by dimension, the scale,
// what is added for positions, the mask. Kept for a tap that wants it, computed when it is asked
// for, a row at a time, in double precision.
#pragma once

#include "fovea/attention/attend.h"

namespace fovea {

/// For a tap that wants products, unless the weights are not made of dot products alone: another
/// score, weights that are drawn, keys that are not finite. `mask`: the memory's, the call's and
/// the alignment's together; `factor` [B, H, Q, K]: what multiplies the normalised weights, or
/// undefined.
void keep_products(const AttendInput& input, const KeepMask& mask, const at::Tensor& factor,
                   Tap& tap);

}  // namespace fovea
