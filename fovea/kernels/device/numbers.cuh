// Numbers of either type in kernels: packs that are read and written as one, and the way to float32
// and back.
#pragma once

#include <cuda_bf16.h>

#include "fovea/kernels/device/number_type.h"

namespace fovea::kernels::device {

/// N numbers that lie side by side.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T at[N];
};

__device__ inline float wide(float x) {
  return x;
}
__device__ inline float wide(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
template <typename T>
__device__ T narrow(float x);
template <>
__device__ inline float narrow<float>(float x) {
  return x;
}
template <>
__device__ inline __nv_bfloat16 narrow<__nv_bfloat16>(float x) {
  return __float2bfloat16(x);
}

/// work.template operator()<T>()
template <typename Work>
void with_type(NumberType type, const Work& work) {
  if (type == NumberType::Float32)
    work.template operator()<float>();
  else
    work.template operator()<__nv_bfloat16>();
}

}  // namespace fovea::kernels::device
