#include "fovea/kernels/attention_decoder/attention_decoder.h"

#include <algorithm>

#include "fovea/kernels/device/numbers.cuh"

namespace fovea::kernels::device {

namespace {

constexpr int kThreads = 1024, kWarp = 32, kWarps = kThreads / kWarp;
constexpr int kKeysAtOnce = 8, kColumnThreads = 128;  // of attention_decoder_key_gradients
constexpr float kHidden = -1e30f;                     // the score of a key that is not kept
constexpr size_t kBytes = 16;                         // that are read at once
constexpr size_t kUsualShared = 48 << 10, kMostShared = 200 << 10;

/// bfloat16 has 8 bits of mantissa: the processor's own tanh, with 11, will do.
template <typename T>
__device__ float bent(float x) {
  return tanhf(x);
}
template <>
__device__ float bent<__nv_bfloat16>(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float sum_of_warp(float x) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

__device__ float largest_of_warp(float x) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    x = fmaxf(x, __shfl_xor_sync(~0u, x, distance));
  return x;
}

/// Sizes of one call as 32-bit numbers.
struct Sizes {
  int rows, keys, key_size, value_size;
  float scale;
  const uint8_t* keep;

  explicit Sizes(const AttentionDecoderShape& shape)
      : rows(int(shape.rows)),
        keys(int(shape.keys)),
        key_size(int(shape.key_size)),
        value_size(int(shape.value_size)),
        scale(shape.scale),
        keep(shape.keep) {}

  /// Numbers that are set aside for one per key; what follows is aligned for any pack.
  __host__ __device__ int keys_room() const { return (keys + 7) / 8 * 8; }
};

/// Where a column of a row lies in shared memory: the first numbers of all packs, then the second
/// ones, …, so that neighbouring threads, each with a pack of its own, read neighbouring banks.
template <int N>
__device__ int place_of(int column, int columns) {
  return column % N * (columns / N) + column / N;
}

/// For each row of [K, columns] the sum over its columns of of(place_of(column), number).
template <typename T, int N, class Of>
__device__ void sum_columns(const T* rows, int keys, int columns, float* sums, const Of& of) {
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  for (int key = warp; key < keys; key += kWarps) {
    const auto* const packs = reinterpret_cast<const Pack<T, N>*>(rows + int64_t(key) * columns);
    float sum = 0;
#pragma unroll 4
    for (int i = lane; i < columns / N; i += kWarp) {
      const Pack<T, N> pack = packs[i];
#pragma unroll
      for (int k = 0; k < N; ++k) sum += of(k * (columns / N) + i, wide(pack.at[k]));
    }
    sum = sum_of_warp(sum);
    if (lane == 0) sums[key] = sum;
  }
}

/// For each column the sum over all keys of of(key, place_of(column), number): use(column, sum).
/// Threads that no column is left for take a share of the keys; `partial` has room for kThreads N
/// numbers.
template <typename T, int N, class Of, class Use>
__device__ void sum_keys(const T* rows, int keys, int columns, float* partial, const Of& of,
                         const Use& use) {
  const int packs = columns / N, span = min(packs, kThreads), groups = kThreads / span;
  const int group = threadIdx.x / span;
  const auto* const from = reinterpret_cast<const Pack<T, N>*>(rows);
  if (group < groups)
    for (int place = threadIdx.x % span; place < packs; place += span) {
      float sums[N] = {};
#pragma unroll 4
      for (int key = group; key < keys; key += groups) {
        const Pack<T, N> pack = from[int64_t(key) * packs + place];
#pragma unroll
        for (int k = 0; k < N; ++k) sums[k] += of(key, k * packs + place, wide(pack.at[k]));
      }
#pragma unroll
      for (int k = 0; k < N; ++k) {
        if (groups == 1)
          use(place * N + k, sums[k]);
        else
          partial[group * columns + k * packs + place] = sums[k];
      }
    }
  if (groups == 1) return;  // all threads or none
  __syncthreads();
  for (int column = threadIdx.x; column < columns; column += kThreads) {
    float sum = 0;
    for (int other = 0; other < groups; ++other)
      sum += partial[other * columns + place_of<N>(column, columns)];
    use(column, sum);
  }
}

/// q and v of a row, into shared memory.
template <typename T, int N, bool kAdditive>
__device__ void fetch_query(const Attend& attend, const Sizes& sizes, float* query, float* energy) {
  const T* const from = static_cast<const T*>(attend.queries) + blockIdx.x * attend.query_row;
  for (int i = threadIdx.x; i < sizes.key_size; i += kThreads) {
    const int place = place_of<N>(i, sizes.key_size);
    query[place] = wide(from[i]);
    if (kAdditive) energy[place] = attend.energy[i];
  }
}

template <typename T, int N, bool kAdditive>
__global__ void __launch_bounds__(kThreads) forward_rows(Attend attend, Sizes sizes, T* contexts) {
  extern __shared__ __align__(32) float shared[];
  const int64_t row = blockIdx.x;
  float* const weights = shared;                       // [K]
  float* const query = weights + sizes.keys_room();    // [F]
  float* const energy = query + sizes.key_size;        // [F]
  float* const partial = weights + sizes.keys_room();  // [kThreads N], once the scores are there
  fetch_query<T, N, kAdditive>(attend, sizes, query, energy);
  __syncthreads();
  const T* const keys =
      static_cast<const T*>(attend.keys) + row * sizes.keys * int64_t(sizes.key_size);
  sum_columns<T, N>(keys, sizes.keys, sizes.key_size, weights, [&](int place, float key) {
    return kAdditive ? energy[place] * bent<T>(query[place] + key)
                     : sizes.scale * query[place] * key;
  });
  __syncthreads();
  if (threadIdx.x < kWarp) {
    float largest = -INFINITY, sum = 0;
    for (int key = threadIdx.x; key < sizes.keys; key += kWarp) {
      if (sizes.keep != nullptr && !sizes.keep[row * sizes.keys + key]) weights[key] = kHidden;
      largest = fmaxf(largest, weights[key]);
    }
    largest = largest_of_warp(largest);
    for (int key = threadIdx.x; key < sizes.keys; key += kWarp)
      sum += weights[key] = __expf(weights[key] - largest);
    const float factor = 1 / sum_of_warp(sum);
    for (int key = threadIdx.x; key < sizes.keys; key += kWarp)
      attend.weights[row * sizes.keys + key] = weights[key] *= factor;
  }
  __syncthreads();
  const T* const values =
      static_cast<const T*>(attend.values) + row * sizes.keys * int64_t(sizes.value_size);
  sum_keys<T, N>(
      values, sizes.keys, sizes.value_size, partial,
      [&](int key, int, float value) { return weights[key] * value; },
      [&](int column, float sum) { contexts[row * sizes.value_size + column] = narrow<T>(sum); });
}

template <typename T, int N, bool kAdditive>
__global__ void __launch_bounds__(kThreads)
    backward_rows(Attend attend, AttendGradient of, Sizes sizes) {
  extern __shared__ __align__(32) float shared[];
  const int64_t row = blockIdx.x;
  float* const of_scores = shared;                  // [K]
  float* const query = shared + sizes.keys_room();  // [F]
  float* const energy = query + sizes.key_size;     // [F]
  float* const context = energy + sizes.key_size;   // dz [C]
  float* const partial = context;                   // [kThreads N], when dz is done with
  fetch_query<T, N, kAdditive>(attend, sizes, query, energy);
  const T* const of_context = static_cast<const T*>(of.contexts) + row * sizes.value_size;
  for (int i = threadIdx.x; i < sizes.value_size; i += kThreads)
    context[place_of<N>(i, sizes.value_size)] = wide(of_context[i]);
  __syncthreads();
  const T* const values =
      static_cast<const T*>(attend.values) + row * sizes.keys * int64_t(sizes.value_size);
  sum_columns<T, N>(values, sizes.keys, sizes.value_size, of_scores,
                    [&](int place, float value) { return context[place] * value; });
  __syncthreads();
  if (threadIdx.x < kWarp) {
    const float* const weights = attend.weights + row * sizes.keys;
    float mean = 0;
    for (int key = threadIdx.x; key < sizes.keys; key += kWarp)
      mean += weights[key] * of_scores[key];
    mean = sum_of_warp(mean);
    for (int key = threadIdx.x; key < sizes.keys; key += kWarp)
      of.scores[row * sizes.keys + key] = of_scores[key] = weights[key] * (of_scores[key] - mean);
  }
  __syncthreads();
  const T* const keys =
      static_cast<const T*>(attend.keys) + row * sizes.keys * int64_t(sizes.key_size);
  sum_keys<T, N>(
      keys, sizes.keys, sizes.key_size, partial,
      [&](int key, int place, float number) {
        if (!kAdditive) return of_scores[key] * number;
        const float t = bent<T>(query[place] + number);
        return of_scores[key] * (1 - t * t);
      },
      [&](int column, float sum) {
        if (kAdditive)
          static_cast<T*>(of.queries)[row * of.query_row + column] =
              narrow<T>(energy[place_of<N>(column, sizes.key_size)] * sum);
        else
          of.hidden[row * sizes.key_size + column] += sizes.scale * sum;
      });
}

/// A thread per column; some keys at once, so that a query is read once for all of them.
template <typename T>
__global__ void __launch_bounds__(kColumnThreads)
    key_gradients(Attend attend, Sizes sizes, int steps, const float* scores, float* of_keys,
                  float* of_energy) {
  const int64_t row = blockIdx.y;
  const int column = blockIdx.x * kColumnThreads + threadIdx.x;
  if (column >= sizes.key_size) return;
  const T* const keys =
      static_cast<const T*>(attend.keys) + row * sizes.keys * int64_t(sizes.key_size) + column;
  const T* const queries = static_cast<const T*>(attend.queries) + row * attend.query_row + column;
  float* const to = of_keys + row * sizes.keys * int64_t(sizes.key_size) + column;
  const float energy = attend.energy[column];
  float sum = 0;
  for (int first = 0; first < sizes.keys; first += kKeysAtOnce) {
    const int count = min(kKeysAtOnce, sizes.keys - first);
    float key[kKeysAtOnce], gradient[kKeysAtOnce] = {};
#pragma unroll
    for (int k = 0; k < kKeysAtOnce; ++k)
      key[k] = k < count ? wide(keys[int64_t(first + k) * sizes.key_size]) : 0.0f;
    for (int step = 0; step < steps; ++step) {
      const float query = wide(queries[step * sizes.rows * attend.query_row]);
      const float* const of_scores = scores + (step * sizes.rows + row) * sizes.keys + first;
#pragma unroll
      for (int k = 0; k < kKeysAtOnce; ++k) {
        if (k >= count) break;
        const float t = bent<T>(query + key[k]), arrived = of_scores[k];
        gradient[k] += arrived * (1 - t * t);
        sum += arrived * t;
      }
    }
#pragma unroll
    for (int k = 0; k < kKeysAtOnce; ++k)
      if (k < count) to[int64_t(first + k) * sizes.key_size] = energy * gradient[k];
  }
  of_energy[row * sizes.key_size + column] = sum;
}

/// work.template operator()<T, numbers of a pack, additive>(); packs are 16 bytes where all rows of
/// the memory are whole ones.
template <typename Work>
void with_look(const AttentionDecoderShape& shape, const Attend& attend, const Work& work) {
  with_type(attend.type, [&]<typename T>() {
    constexpr int kPack = kBytes / sizeof(T);
    const auto aligned = [](const void* x) { return reinterpret_cast<uintptr_t>(x) % kBytes == 0; };
    const bool packed = shape.key_size % kPack == 0 && shape.value_size % kPack == 0 &&
                        aligned(attend.keys) && aligned(attend.values);
    const auto with_score = [&]<int N>() {
      if (shape.additive)
        work.template operator()<T, N, true>();
      else
        work.template operator()<T, N, false>();
    };
    if (packed)
      with_score.template operator()<kPack>();
    else
      with_score.template operator()<1>();
  });
}

/// Bytes of shared memory that a attend needs, in either pass.
template <int N>
size_t shared_of(const Sizes& sizes, bool backward) {
  const size_t partial = size_t(kThreads) * N, both = 2 * size_t(sizes.key_size);
  const size_t numbers =
      backward ? both + std::max(partial, size_t(sizes.value_size)) : std::max(partial, both);
  return (size_t(sizes.keys_room()) + numbers) * sizeof(float);
}

template <class Kernel, class... Arguments>
void launch_rows(Kernel kernel, const Sizes& sizes, size_t bytes, void* stream,
                 Arguments... arguments) {
  if (bytes > kUsualShared)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  kernel<<<unsigned(sizes.rows), kThreads, bytes, static_cast<cudaStream_t>(stream)>>>(
      arguments...);
}

}  // namespace

bool attention_decoder_takes(const AttentionDecoderShape& shape) {
  const int64_t limit = int64_t(kMostShared / sizeof(float));
  return shape.rows > 0 && shape.keys > 0 && shape.keys < limit && shape.key_size < limit &&
         shape.value_size < limit && shared_of<8>(Sizes(shape), true) <= kMostShared;
}

void attend_forward(const AttentionDecoderShape& shape, const Attend& attend, void* contexts,
                    void* stream) {
  const Sizes sizes(shape);
  with_look(shape, attend, [&]<typename T, int N, bool kAdditive>() {
    launch_rows(forward_rows<T, N, kAdditive>, sizes, shared_of<N>(sizes, false), stream, attend,
                sizes, static_cast<T*>(contexts));
  });
}

void attend_backward(const AttentionDecoderShape& shape, const Attend& attend,
                     const AttendGradient& of, void* stream) {
  const Sizes sizes(shape);
  with_look(shape, attend, [&]<typename T, int N, bool kAdditive>() {
    launch_rows(backward_rows<T, N, kAdditive>, sizes, shared_of<N>(sizes, true), stream, attend,
                of, sizes);
  });
}

void attention_decoder_key_gradients(const AttentionDecoderShape& shape, const Attend& attend,
                                     const float* scores, float* keys, float* energy,
                                     void* stream) {
  const Sizes sizes(shape);
  const dim3 blocks(unsigned((shape.key_size + kColumnThreads - 1) / kColumnThreads),
                    unsigned(shape.rows));
  with_type(attend.type, [&]<typename T>() {
    key_gradients<T><<<blocks, kColumnThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        attend, sizes, int(shape.steps), scores, keys, energy);
  });
}

}  // namespace fovea::kernels::device
