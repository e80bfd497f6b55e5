// Forward a thread has one pack of 16 bytes; backward goes over columns as slice_sums.cuh says.
#include "fovea/kernels/activation/activation.h"

#include "fovea/kernels/device/draws.cuh"
#include "fovea/kernels/device/numbers.cuh"
#include "fovea/kernels/device/slice_sums.cuh"

namespace fovea::kernels::device {

namespace {

constexpr int kWordsOfGroup = 4;

__device__ float normal_below(float u) {
  return 0.5f * (1 + erff(u * 0.70710678f));
}

template <Activation kind>
__device__ float activated(float u) {
  if constexpr (kind == Activation::Relu)
    return u < 0 ? 0.0f : u;  // a NaN stays one
  else if constexpr (kind == Activation::Gelu)
    return u * normal_below(u);
  else
    return tanhf(u);
}

/// For relu u may be the result.
template <Activation kind>
__device__ float slope(float u) {
  if constexpr (kind == Activation::Relu) {
    return u > 0 ? 1.0f : 0.0f;
  } else if constexpr (kind == Activation::Gelu) {
    return normal_below(u) + u * 0.39894228f * __expf(-0.5f * u * u);
  } else {
    const float t = tanhf(u);
    return 1 - t * t;
  }
}

/// Factors of the N numbers of a pack: 0 or the scale.
template <int N>
__device__ void draw_factors(const DeviceDropout& dropout, int64_t pack, float (&factors)[N]) {
  if (dropout.threshold == 0) {
#pragma unroll
    for (int k = 0; k < N; ++k) factors[k] = 1;
    return;
  }
  constexpr int kGroups = N / kWordsOfGroup;
  const Drawer drawer(dropout.draws);
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const Words words = drawer.words(uint64_t(pack) * kGroups + g);
#pragma unroll
    for (int k = 0; k < kWordsOfGroup; ++k)
      factors[g * kWordsOfGroup + k] = words.at[k] < dropout.threshold ? 0 : dropout.scale;
  }
}

template <int N>
__device__ void read_bias(const float* bias, int64_t column, float (&to)[N]) {
  constexpr int kOfPack = kNumbers<float>;
#pragma unroll
  for (int i = 0; i < N; i += kOfPack) {
    Pack<float, kOfPack> numbers{};
    if (bias) numbers = *reinterpret_cast<const Pack<float, kOfPack>*>(bias + column + i);
#pragma unroll
    for (int k = 0; k < kOfPack; ++k) to[i + k] = numbers.at[k];
  }
}

template <typename T, Activation kind>
__global__ void __launch_bounds__(kThreads)
    forward_packs(ActivationShape shape, uint32_t packs, uint32_t packs_of_row, const void* x,
                  void* y) {
  constexpr int N = kNumbers<T>;
  const uint32_t pack = blockIdx.x * kThreads + threadIdx.x;
  if (pack >= packs) return;
  Pack<T, N> numbers = static_cast<const Pack<T, N>*>(x)[pack];
  float bias[N], factors[N];
  read_bias(shape.bias, int64_t(pack % packs_of_row) * N, bias);
  draw_factors(shape.dropout, pack, factors);
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const float a = activated<kind>(wide(numbers.at[k]) + bias[k]);
    numbers.at[k] = narrow<T>(factors[k] == 0 ? 0.0f : a * factors[k]);  // a may be infinite
  }
  static_cast<Pack<T, N>*>(y)[pack] = numbers;
}

template <typename T, Activation kind>
__global__ void __launch_bounds__(kThreads)
    backward_columns(ActivationShape shape, const Pack<T, kNumbers<T>>* __restrict__ saved,
                     const Pack<T, kNumbers<T>>* __restrict__ dy,
                     Pack<T, kNumbers<T>>* __restrict__ dx, float* slices) {
  constexpr int N = kNumbers<T>;
  constexpr bool kRelu = kind == Activation::Relu;
  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
  const int64_t packs = shape.columns / N, pack = int64_t(blockIdx.x) * kWarp + lane;
  const RowRange range(shape.rows);
  float sums[N] = {};
  if (pack < packs) {
    float bias[N];
    read_bias(kRelu ? nullptr : shape.bias, pack * N, bias);
#pragma unroll(kRelu ? 4 : 1)
    for (int64_t row = range.first + warp; row < range.last; row += kWarps) {
      const int64_t index = row * packs + pack;
      const Pack<T, N> u = saved[index];
      Pack<T, N> d = dy[index];
      float factors[N];
      if constexpr (!kRelu) draw_factors(shape.dropout, index, factors);
#pragma unroll
      for (int k = 0; k < N; ++k) {
        float du;
        if constexpr (kRelu)  // what was dropped is 0
          du = wide(u.at[k]) > 0 ? wide(d.at[k]) * shape.dropout.scale : 0.0f;
        else
          du = factors[k] == 0 ? 0.0f
                               : wide(d.at[k]) * factors[k] * slope<kind>(wide(u.at[k]) + bias[k]);
        sums[k] += du;
        d.at[k] = narrow<T>(du);
      }
      dx[index] = d;
    }
  }
  if (slices) leave_slice(sums, shape.columns, slices);
}

/// work.template operator()<type, kind>()
template <typename T, typename Work>
void with_kind(Activation kind, const Work& work) {
  if (kind == Activation::Relu)
    work.template operator()<T, Activation::Relu>();
  else if (kind == Activation::Gelu)
    work.template operator()<T, Activation::Gelu>();
  else
    work.template operator()<T, Activation::Tanh>();
}

template <typename Work>
void with_types(const ActivationShape& shape, const Work& work) {
  if (shape.type == NumberType::Float32)
    with_kind<float>(shape.kind, work);
  else
    with_kind<__nv_bfloat16>(shape.kind, work);
}

}  // namespace

bool activation_takes(NumberType type, int64_t rows, int64_t columns) {
  const int64_t numbers = type == NumberType::Float32 ? kNumbers<float> : kNumbers<__nv_bfloat16>;
  return columns > 0 && columns % numbers == 0 && rows * (columns / numbers) < INT32_MAX;
}

void activation_forward(const ActivationShape& shape, const void* x, void* y, void* stream) {
  if (shape.rows == 0) return;
  with_types(shape, [&]<typename T, Activation kind>() {
    const int64_t of_row = shape.columns / kNumbers<T>, packs = shape.rows * of_row;
    forward_packs<T, kind>
        <<<unsigned((packs + kThreads - 1) / kThreads), kThreads, 0,
           static_cast<cudaStream_t>(stream)>>>(shape, uint32_t(packs), uint32_t(of_row), x, y);
  });
}

void activation_backward(const ActivationShape& shape, const ActivationBackward& at, void* stream) {
  if (shape.rows == 0) return;
  with_types(shape, [&]<typename T, Activation kind>() {
    using Numbers = Pack<T, kNumbers<T>>;
    backward_columns<T, kind><<<grid_of(shape.rows, shape.columns, kNumbers<T>), kThreads, 0,
                                static_cast<cudaStream_t>(stream)>>>(
        shape, static_cast<const Numbers*>(at.saved), static_cast<const Numbers*>(at.dy),
        static_cast<Numbers*>(at.dx), at.dbias ? at.slices : nullptr);
  });
  if (!at.dbias) return;
  add_slices({at.slices, column_slices(shape.rows, shape.columns), shape.columns, shape.columns,
              at.dbias, nullptr},
             static_cast<cudaStream_t>(stream));
}

}  // namespace fovea::kernels::device
