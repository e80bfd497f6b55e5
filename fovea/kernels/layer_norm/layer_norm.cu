// One warp per row, which lies in its registers: lane l has the packs of four columns l, l + 32, …
// Backward a warp goes over many rows, so that dgamma and dbeta are added up in registers first.
#include "fovea/kernels/layer_norm/layer_norm.h"

#include <type_traits>

#include "fovea/kernels/device/draws.cuh"
#include "fovea/kernels/device/numbers.cuh"
#include "fovea/kernels/device/slice_sums.cuh"

namespace fovea::kernels::device {

namespace {

constexpr int kPack = 4;       // columns; their words are one Philox block
constexpr int kMostPacks = 8;  // of a lane
constexpr int kMostSlices =
    264;  // blocks of a backward pass: two on each multiprocessor of an H100

template <typename T>
using Quad = Pack<T, kPack>;

/// In place of the type of a residual that does not exist.
struct None {};

__device__ float warp_sum(float x) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

__device__ float dropped(float x, uint32_t word, const DeviceDropout& dropout) {
  return word < dropout.threshold ? 0.0f : x * dropout.scale;
}

/// The words of one pack. The keys of the rounds are made anew each time: a compiler that keeps all
/// of them in registers has too few for the row.
__device__ Words words_of(Drawer drawer, int64_t pack) {
  asm volatile("" : "+l"(drawer.seed));
  return drawer.words(uint64_t(pack));
}

/// X, R, Y: the types of x, the residual and y. P: packs of a lane.
template <typename X, typename R, typename Y, int P>
__global__ void __launch_bounds__(kThreads)
    forward_rows(LayerNormShape shape, LayerNormForward at) {
  constexpr bool kAdds = !std::is_same_v<R, None>;
  const int lane = int(threadIdx.x) % kWarp, packs = int(shape.columns) / kPack;
  const int64_t row = int64_t(blockIdx.x) * kWarps + int(threadIdx.x) / kWarp;
  if (row >= shape.rows) return;
  const int64_t first = row * packs;
  const Drawer drawer(shape.dropout.draws);
  Quad<X> x[P];
  Quad<R> residual[P];
#pragma unroll
  for (int i = 0; i < P; ++i) {
    const int pack = i * kWarp + lane;
    if (pack >= packs) continue;
    x[i] = static_cast<const Quad<X>*>(at.x)[first + pack];
    if constexpr (kAdds) residual[i] = static_cast<const Quad<R>*>(at.residual)[first + pack];
  }

  float z[P][kPack], sum = 0;
#pragma unroll
  for (int i = 0; i < P; ++i) {
    const int pack = i * kWarp + lane;
    if (pack >= packs) continue;
#pragma unroll
    for (int k = 0; k < kPack; ++k) z[i][k] = wide(x[i].at[k]);
    if constexpr (kAdds) {
      if (shape.dropout.threshold > 0) {
        const Words words = words_of(drawer, first + pack);
#pragma unroll
        for (int k = 0; k < kPack; ++k) z[i][k] = dropped(z[i][k], words.at[k], shape.dropout);
      }
      Quad<float> kept;
#pragma unroll
      for (int k = 0; k < kPack; ++k) kept.at[k] = z[i][k] += wide(residual[i].at[k]);
      reinterpret_cast<Quad<float>*>(at.z)[first + pack] = kept;
    }
#pragma unroll
    for (int k = 0; k < kPack; ++k) sum += z[i][k];
  }

  const float mean = warp_sum(sum) / float(shape.columns);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < P; ++i) {
    if (i * kWarp + lane >= packs) continue;
#pragma unroll
    for (int k = 0; k < kPack; ++k) squares += (z[i][k] - mean) * (z[i][k] - mean);
  }
  const float inverse_sigma = rsqrtf(warp_sum(squares) / float(shape.columns) + shape.epsilon);
  if (lane == 0) at.mean[row] = mean, at.inverse_sigma[row] = inverse_sigma;

#pragma unroll
  for (int i = 0; i < P; ++i) {
    const int pack = i * kWarp + lane;
    if (pack >= packs) continue;
    const auto gamma = reinterpret_cast<const Quad<float>*>(at.gamma)[pack];
    const auto beta = reinterpret_cast<const Quad<float>*>(at.beta)[pack];
    Quad<Y> y;
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      y.at[k] = narrow<Y>((z[i][k] - mean) * inverse_sigma * gamma.at[k] + beta.at[k]);
    static_cast<Quad<Y>*>(at.y)[first + pack] = y;
  }
}

/// Adds the sums of a block's warps up, in those of warp 0. All threads of the block must come.
template <int P>
__device__ void join_warps(float (&a)[P][kPack], float (&b)[P][kPack]) {
  __shared__ Quad<float> shared[kWarps / 2][2][P][kWarp];
  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
  for (int half = kWarps / 2; half > 0; half /= 2) {
    if (warp >= half && warp < 2 * half) {
#pragma unroll
      for (int i = 0; i < P; ++i) {
        shared[warp - half][0][i][lane] = {a[i][0], a[i][1], a[i][2], a[i][3]};
        shared[warp - half][1][i][lane] = {b[i][0], b[i][1], b[i][2], b[i][3]};
      }
    }
    __syncthreads();
    if (warp < half) {
#pragma unroll
      for (int i = 0; i < P; ++i) {
        const Quad<float> more_a = shared[warp][0][i][lane], more_b = shared[warp][1][i][lane];
#pragma unroll
        for (int k = 0; k < kPack; ++k) a[i][k] += more_a.at[k], b[i][k] += more_b.at[k];
      }
    }
    __syncthreads();  // before the next half overwrites what was read
  }
}

template <typename X, typename R, typename Y, int P>
__global__ void __launch_bounds__(kThreads, P < kMostPacks ? 2 : 1)
    backward_rows(LayerNormShape shape, LayerNormBackward at) {
  constexpr bool kAdds = !std::is_same_v<R, None>;
  using Z = std::conditional_t<kAdds, float, X>;
  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
  const int packs = int(shape.columns) / kPack;
  const float share = 1 / float(shape.columns);
  const Drawer drawer(shape.dropout.draws);
  float dgamma[P][kPack] = {}, dbeta[P][kPack] = {};
  for (int64_t row = int64_t(blockIdx.x) * kWarps + warp; row < shape.rows;
       row += int64_t(gridDim.x) * kWarps) {
    const int64_t first = row * packs;
    Quad<Z> z[P];
    Quad<Y> dy[P];
    Quad<float> more[P];
#pragma unroll
    for (int i = 0; i < P; ++i) {
      const int pack = i * kWarp + lane;
      more[i] = {0, 0, 0, 0};
      if (pack >= packs) continue;
      z[i] = static_cast<const Quad<Z>*>(at.z)[first + pack];
      dy[i] = static_cast<const Quad<Y>*>(at.dy)[first + pack];
      if (kAdds && at.dz_more)
        more[i] = reinterpret_cast<const Quad<float>*>(at.dz_more)[first + pack];
    }
    const float mean = at.mean[row], inverse_sigma = at.inverse_sigma[row];

    float n[P][kPack], dz[P][kPack];  // dz: as far as it is known before the means
    float sum_h = 0, sum_hn = 0;
#pragma unroll
    for (int i = 0; i < P; ++i) {
      const int pack = i * kWarp + lane;
      if (pack >= packs) continue;
      const auto gamma = reinterpret_cast<const Quad<float>*>(at.gamma)[pack];
#pragma unroll
      for (int k = 0; k < kPack; ++k) {
        const float d = wide(dy[i].at[k]), h = d * gamma.at[k];
        n[i][k] = (wide(z[i].at[k]) - mean) * inverse_sigma;
        dgamma[i][k] += d * n[i][k], dbeta[i][k] += d;
        sum_h += h, sum_hn += h * n[i][k];
        dz[i][k] = h * inverse_sigma + more[i].at[k];
      }
    }
    const float mean_h = warp_sum(sum_h) * share, mean_hn = warp_sum(sum_hn) * share;

#pragma unroll
    for (int i = 0; i < P; ++i) {
      const int pack = i * kWarp + lane;
      if (pack >= packs) continue;
#pragma unroll
      for (int k = 0; k < kPack; ++k) dz[i][k] -= (mean_h + n[i][k] * mean_hn) * inverse_sigma;
      if constexpr (kAdds) {
        if (at.dz) {
          Quad<R> to;
#pragma unroll
          for (int k = 0; k < kPack; ++k) to.at[k] = narrow<R>(dz[i][k]);
          static_cast<Quad<R>*>(at.dz)[first + pack] = to;
        }
        if (at.dx && shape.dropout.threshold > 0) {
          const Words words = words_of(drawer, first + pack);
#pragma unroll
          for (int k = 0; k < kPack; ++k) dz[i][k] = dropped(dz[i][k], words.at[k], shape.dropout);
        }
      }
      if (at.dx) {
        Quad<X> to;
#pragma unroll
        for (int k = 0; k < kPack; ++k) to.at[k] = narrow<X>(dz[i][k]);
        static_cast<Quad<X>*>(at.dx)[first + pack] = to;
      }
    }
  }

  join_warps(dgamma, dbeta);
  if (warp > 0) return;
  auto* const slice = reinterpret_cast<Quad<float>*>(at.slices) + int64_t(blockIdx.x) * 2 * packs;
#pragma unroll
  for (int i = 0; i < P; ++i) {
    const int pack = i * kWarp + lane;
    if (pack >= packs) continue;
    slice[pack] = {dgamma[i][0], dgamma[i][1], dgamma[i][2], dgamma[i][3]};
    slice[packs + pack] = {dbeta[i][0], dbeta[i][1], dbeta[i][2], dbeta[i][3]};
  }
}

/// z = residual + dropout(x), or without a residual dropout(x): of type X in, of type Z out.
template <typename X, typename Z>
__global__ void __launch_bounds__(kThreads)
    drop_and_add(DeviceDropout dropout, int64_t packs, const Quad<X>* x,
                 const Quad<float>* residual, Quad<Z>* z) {
  const int64_t pack = int64_t(blockIdx.x) * kThreads + int(threadIdx.x);
  if (pack >= packs) return;
  const Quad<X> from = x[pack];
  Quad<float> sum{0, 0, 0, 0};
  if (residual) sum = residual[pack];
  Words words{{~0u, ~0u, ~0u, ~0u}};  // nothing is dropped
  if (dropout.threshold > 0) words = Drawer(dropout.draws).words(uint64_t(pack));
  Quad<Z> to;
#pragma unroll
  for (int k = 0; k < kPack; ++k)
    to.at[k] = narrow<Z>(sum.at[k] + dropped(wide(from.at[k]), words.at[k], dropout));
  z[pack] = to;
}

unsigned blocks_for(int64_t threads) {
  return unsigned((threads + kThreads - 1) / kThreads);
}

/// work.template operator()<X, R, Y, P>()
template <typename X, typename R, typename Y, typename Work>
void with_packs(int64_t columns, const Work& work) {
  constexpr int64_t kWidth = kWarp * kPack;  // columns of a warp that has one pack a lane
  if (columns <= kWidth)
    work.template operator()<X, R, Y, 1>();
  else if (columns <= 2 * kWidth)
    work.template operator()<X, R, Y, 2>();
  else if (columns <= 4 * kWidth)
    work.template operator()<X, R, Y, 4>();
  else
    work.template operator()<X, R, Y, kMostPacks>();
}

template <typename Y, typename Work>
void with_inputs(const LayerNormShape& shape, const Work& work) {
  const bool rounded = shape.x == NumberType::BFloat16;
  if (!rounded && !shape.adds)
    with_packs<float, None, Y>(shape.columns, work);
  else if (!rounded)
    with_packs<float, float, Y>(shape.columns, work);
  else if (!shape.adds)
    with_packs<__nv_bfloat16, None, Y>(shape.columns, work);
  else if (shape.residual == NumberType::Float32)
    with_packs<__nv_bfloat16, float, Y>(shape.columns, work);
  else
    with_packs<__nv_bfloat16, __nv_bfloat16, Y>(shape.columns, work);
}

template <typename Work>
void with_types(const LayerNormShape& shape, const Work& work) {
  if (shape.y == NumberType::Float32)
    with_inputs<float>(shape, work);
  else
    with_inputs<__nv_bfloat16>(shape, work);
}

}  // namespace

bool layer_norm_takes(int64_t columns) {
  return columns > 0 && columns % kPack == 0 && columns <= kMostPacks * kWarp * kPack;
}

void layer_norm_forward(const LayerNormShape& shape, const LayerNormForward& at, void* stream) {
  if (shape.rows == 0) return;
  with_types(shape, [&]<typename X, typename R, typename Y, int P>() {
    forward_rows<X, R, Y, P>
        <<<blocks_for(shape.rows * kWarp), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(shape,
                                                                                             at);
  });
}

int64_t layer_norm_slices(int64_t rows) {
  const int64_t blocks = (rows + kWarps - 1) / kWarps;
  return blocks < kMostSlices ? blocks : kMostSlices;
}

void layer_norm_backward(const LayerNormShape& shape, const LayerNormBackward& at, void* stream) {
  if (shape.rows == 0) return;
  const int64_t slices = layer_norm_slices(shape.rows);
  with_types(shape, [&]<typename X, typename R, typename Y, int P>() {
    backward_rows<X, R, Y, P>
        <<<unsigned(slices), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(shape, at);
  });
  add_slices({at.slices, slices, 2 * shape.columns, shape.columns, at.dgamma, at.dbeta},
             static_cast<cudaStream_t>(stream));
}

void dropped_sum_forward(const DeviceDropout& dropout, NumberType type, int64_t count,
                         const void* x, const float* residual, float* z, void* stream) {
  const int64_t packs = count / kPack;
  if (packs == 0) return;
  const auto launch = [&]<typename X>(const X* from) {
    drop_and_add<X, float><<<blocks_for(packs), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        dropout, packs, reinterpret_cast<const Quad<X>*>(from),
        reinterpret_cast<const Quad<float>*>(residual), reinterpret_cast<Quad<float>*>(z));
  };
  if (type == NumberType::Float32)
    launch(static_cast<const float*>(x));
  else
    launch(static_cast<const __nv_bfloat16*>(x));
}

void dropped_sum_backward(const DeviceDropout& dropout, NumberType type, int64_t count,
                          const float* dz, void* dx, void* stream) {
  const int64_t packs = count / kPack;
  if (packs == 0) return;
  const auto launch = [&]<typename X>(X* to) {
    drop_and_add<float, X><<<blocks_for(packs), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        dropout, packs, reinterpret_cast<const Quad<float>*>(dz), nullptr,
        reinterpret_cast<Quad<X>*>(to));
  };
  if (type == NumberType::Float32)
    launch(static_cast<float*>(dx));
  else
    launch(static_cast<__nv_bfloat16*>(dx));
}

}  // namespace fovea::kernels::device
