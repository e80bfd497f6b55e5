// One block per row. Where rows are whole packs of 16 bytes they are read so.
#include "fovea/kernels/cross_entropy/cross_entropy.h"

#include "fovea/kernels/device/device.h"
#include "fovea/kernels/device/numbers.cuh"

namespace fovea::kernels::device {

namespace {

constexpr int kThreads = 512, kWarp = 32, kWarps = kThreads / kWarp;

/// Sums of exp(x - largest) over the numbers seen so far, and of x.
struct Seen {
  float largest = -INFINITY, exponentials = 0, plain = 0;

  __device__ void add(float x) {
    if (x > largest) {
      exponentials *= __expf(largest - x);
      largest = x;
    }
    exponentials += __expf(x - largest);
    plain += x;
  }

  __device__ void join(const Seen& other) {
    plain += other.plain;
    if (other.exponentials == 0) return;
    if (other.largest > largest) {
      exponentials *= __expf(largest - other.largest);
      largest = other.largest;
    }
    exponentials += other.exponentials * __expf(other.largest - largest);
  }

  __device__ Seen from_lane(int distance) const {
    return {__shfl_down_sync(~0u, largest, distance), __shfl_down_sync(~0u, exponentials, distance),
            __shfl_down_sync(~0u, plain, distance)};
  }
};

template <typename T, int N>
__global__ void __launch_bounds__(kThreads) forward_rows(CrossEntropy of, float* losses) {
  const int64_t row = blockIdx.x;
  const float share = of.shares[row];
  if (share == 0) {
    if (threadIdx.x == 0) losses[row] = of.logs[row] = 0;
    return;
  }
  const T* const logits = static_cast<const T*>(of.logits) + row * of.classes;
  const auto* const packs = reinterpret_cast<const Pack<T, N>*>(logits);
  Seen seen;
  for (int64_t i = threadIdx.x; i < of.classes / N; i += kThreads) {
    const Pack<T, N> pack = packs[i];
#pragma unroll
    for (int k = 0; k < N; ++k) seen.add(wide(pack.at[k]));
  }
  __shared__ Seen of_warps[kWarps];
  for (int distance = kWarp / 2; distance > 0; distance /= 2) seen.join(seen.from_lane(distance));
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = seen;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kWarps; ++warp) seen.join(of_warps[warp]);
  const float log = seen.largest + logf(seen.exponentials);
  of.logs[row] = log;
  losses[row] = share * (log - (1 - of.smoothing) * wide(logits[of.targets[row]]) -
                         of.smoothing * seen.plain / float(of.classes));
}

template <typename T, int N>
__global__ void __launch_bounds__(kThreads)
    backward_rows(CrossEntropy of, const float* arrived, T* gradients) {
  const int64_t row = blockIdx.x, target = of.targets[row];
  const float share = of.shares[row] * *arrived, log = of.logs[row];
  const float everywhere = of.smoothing / float(of.classes), there = 1 - of.smoothing;
  const auto* const from =
      reinterpret_cast<const Pack<T, N>*>(static_cast<const T*>(of.logits) + row * of.classes);
  auto* const to = reinterpret_cast<Pack<T, N>*>(gradients + row * of.classes);
  for (int64_t i = threadIdx.x; i < of.classes / N; i += kThreads) {
    Pack<T, N> pack{};
    if (share != 0) {
      pack = from[i];
#pragma unroll
      for (int k = 0; k < N; ++k) {
        const float aim = i * N + k == target ? everywhere + there : everywhere;
        pack.at[k] = narrow<T>(share * (__expf(wide(pack.at[k]) - log) - aim));
      }
    } else {
#pragma unroll
      for (int k = 0; k < N; ++k) pack.at[k] = narrow<T>(0.0f);
    }
    to[i] = pack;
  }
}

/// work.template operator()<type, numbers of a pack>()
template <typename Work>
void with_packs(const CrossEntropy& of, const void* other, const Work& work) {
  constexpr int kBytes = 16;
  const auto whole = [&](int64_t size) {
    return of.classes * size % kBytes == 0 &&
           reinterpret_cast<uintptr_t>(of.logits) % kBytes == 0 &&
           reinterpret_cast<uintptr_t>(other) % kBytes == 0;
  };
  if (of.type == NumberType::Float32) {
    if (whole(sizeof(float)))
      work.template operator()<float, 4>();
    else
      work.template operator()<float, 1>();
  } else {
    if (whole(sizeof(__nv_bfloat16)))
      work.template operator()<__nv_bfloat16, 8>();
    else
      work.template operator()<__nv_bfloat16, 1>();
  }
}

}  // namespace

bool exists() {
  return true;
}

void cross_entropy_forward(const CrossEntropy& of, float* losses, void* stream) {
  if (of.rows == 0) return;
  with_packs(of, nullptr, [&]<typename T, int N>() {
    forward_rows<T, N>
        <<<unsigned(of.rows), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(of, losses);
  });
}

void cross_entropy_backward(const CrossEntropy& of, const float* arrived, void* gradients,
                            void* stream) {
  if (of.rows == 0) return;
  with_packs(of, gradients, [&]<typename T, int N>() {
    backward_rows<T, N><<<unsigned(of.rows), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        of, arrived, static_cast<T*>(gradients));
  });
}

}  // namespace fovea::kernels::device
