// __Name__: y = scale x, element by element.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// x and y: [count]. y may be x.
void __name__(const float* x, float scale, int64_t count, float* y);

}  // namespace fovea::kernels
