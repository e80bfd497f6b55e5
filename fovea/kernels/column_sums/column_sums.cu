// The grid, and what a block does, as slice_sums.cuh says.
#include "fovea/kernels/column_sums/column_sums.h"

#include "fovea/kernels/device/numbers.cuh"
#include "fovea/kernels/device/slice_sums.cuh"

namespace fovea::kernels::device {

namespace {

constexpr int64_t kBlocks = 528;              // enough to fill a GPU of 132 multiprocessors
constexpr int64_t kColumnsOfBlock = 256;      // in bfloat16, when blocks are counted
constexpr int64_t kRowsOfSlice = 2 * kWarps;  // at least

template <typename T, int N>
__global__ void __launch_bounds__(kThreads)
    sum_columns(int64_t rows, int64_t columns, const Pack<T, N>* __restrict__ x, float* slices) {
  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
  const int64_t packs = columns / N, pack = int64_t(blockIdx.x) * kWarp + lane;
  const RowRange range(rows);
  float sums[N] = {};
  if (pack < packs) {
#pragma unroll 4
    for (int64_t row = range.first + warp; row < range.last; row += kWarps) {
      const Pack<T, N> numbers = x[row * packs + pack];
#pragma unroll
      for (int k = 0; k < N; ++k) sums[k] += wide(numbers.at[k]);
    }
  }
  leave_slice(sums, columns, slices);
}

template <typename T, int N>
void launch_sums(const ColumnSums& of, cudaStream_t stream) {
  sum_columns<T, N><<<grid_of(of.rows, of.columns, N), kThreads, 0, stream>>>(
      of.rows, of.columns, static_cast<const Pack<T, N>*>(of.x), of.slices);
}

template <typename T>
void launch_sums(const ColumnSums& of, cudaStream_t stream) {
  if (of.columns % kNumbers<T> == 0 && reinterpret_cast<uintptr_t>(of.x) % kBytes == 0)
    launch_sums<T, kNumbers<T>>(of, stream);
  else
    launch_sums<T, 1>(of, stream);
}

}  // namespace

int64_t column_slices(int64_t rows, int64_t columns) {
  const int64_t across = (columns + kColumnsOfBlock - 1) / kColumnsOfBlock;
  const int64_t useful = (rows + kRowsOfSlice - 1) / kRowsOfSlice;
  const int64_t wanted = across > 0 ? (kBlocks + across - 1) / across : 1;
  return wanted < useful ? wanted : useful > 0 ? useful : 1;
}

void column_sums(const ColumnSums& of, void* stream) {
  if (of.columns == 0) return;
  if (of.type == NumberType::Float32)
    launch_sums<float>(of, static_cast<cudaStream_t>(stream));
  else
    launch_sums<__nv_bfloat16>(of, static_cast<cudaStream_t>(stream));
  add_slices(
      {of.slices, column_slices(of.rows, of.columns), of.columns, of.columns, of.sums, nullptr},
      static_cast<cudaStream_t>(stream));
}

}  // namespace fovea::kernels::device
