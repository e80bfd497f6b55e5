// Sums over the rows of a matrix in two steps and always in the same order, so that the same
// numbers give the same bits: every block leaves the sums of its rows, a slice; add_slices() adds
// the slices. In a kernel over columns a block has 32 packs of columns side by side and a range of
// rows, through which its warps go in turn: a lane stays with its columns.
#pragma once

#include <cstdint>

#include "fovea/kernels/column_sums/column_sums.h"

namespace fovea::kernels::device {

constexpr int kWarp = 32;
constexpr int kWarps = 8;  // of a block that goes over rows
constexpr int kThreads = kWarp * kWarps;
constexpr int kBytes = 16;   // of a pack
constexpr int kAdders = 32;  // threads that share the slices of one column; a power of 2

/// Numbers of a pack.
template <typename T>
constexpr int kNumbers = kBytes / int(sizeof(T));

/// The rows of a block: slice blockIdx.y of gridDim.y.
struct RowRange {
  int64_t first, last;

  __device__ explicit RowRange(int64_t rows) {
    const int64_t of_slice = (rows + gridDim.y - 1) / gridDim.y;
    first = min(of_slice * int64_t(blockIdx.y), rows);
    last = min(first + of_slice, rows);
  }
};

/// A block's sums, N columns of each lane, to its slice. All threads of the block must come.
template <int N>
__device__ void leave_slice(const float (&sums)[N], int64_t columns, float* slices) {
  constexpr int kWidth = kWarp * N;
  __shared__ alignas(kBytes) float of_warps[kWarps][kWidth];
  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
#pragma unroll
  for (int k = 0; k < N; ++k) of_warps[warp][lane * N + k] = sums[k];
  __syncthreads();
  for (int i = int(threadIdx.x); i < kWidth; i += kThreads) {
    const int64_t column = int64_t(blockIdx.x) * kWidth + i;
    if (column >= columns) break;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += of_warps[w][i];
    slices[int64_t(blockIdx.y) * columns + column] = sum;
  }
}

/// Blocks over columns and slices over rows, for N numbers of a lane.
inline dim3 grid_of(int64_t rows, int64_t columns, int64_t numbers) {
  const int64_t width = kWarp * numbers;
  return dim3(unsigned((columns + width - 1) / width), unsigned(column_slices(rows, columns)));
}

/// slices [count, n] -> the first `split` columns to first [split], the others to second
/// [n - split].
struct SliceSums {
  const float* slices;
  int64_t count, n, split;
  float *first, *second;
};

static __global__ void __launch_bounds__(kWarp* kAdders) add_slices_of_columns(SliceSums of) {
  __shared__ float shared[kAdders][kWarp];
  const int x = int(threadIdx.x), y = int(threadIdx.y);
  const int64_t column = int64_t(blockIdx.x) * kWarp + x;
  float sum = 0;
  if (column < of.n) {
    const float* const at = of.slices + column;
#pragma unroll 4
    for (int64_t slice = y; slice < of.count; slice += kAdders) sum += at[slice * of.n];
  }
  shared[y][x] = sum;
  for (int half = kAdders / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half) shared[y][x] += shared[y + half][x];
  }
  if (y > 0 || column >= of.n) return;
  if (column < of.split)
    of.first[column] = shared[0][x];  // written by this very thread
  else
    of.second[column - of.split] = shared[0][x];
}

inline void add_slices(const SliceSums& of, cudaStream_t stream) {
  add_slices_of_columns<<<unsigned((of.n + kWarp - 1) / kWarp), dim3(kWarp, kAdders), 0, stream>>>(
      of);
}

}  // namespace fovea::kernels::device
