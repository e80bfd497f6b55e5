// What numbers a kernel of this folder reads and writes; all of them compute in float32.
#pragma once

namespace fovea::kernels::device {

enum class NumberType { Float32, BFloat16 };

}  // namespace fovea::kernels::device
