// Dense layers of the tabular network: forward, backward and gradient. Every buffer is [units][R],
// R rows padded to whole vectors. Units are taken in blocks that fill the registers.
#pragma once

#include "fovea/kernels/simd.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

/// A dense layer's place in the parameter array; its gradient lies at the same offset.
struct Layer {
  int64_t in, out, offset;
  int64_t bias() const { return offset + in * out; }
  int64_t end() const { return offset + in * out + out; }
};

template <int64_t Count>
struct Size {};

/// Calls work(Size<size>{}), a size of 1 … Most.
template <int64_t Most, class Work>
inline void with_size(int64_t size, Work work) {
  if constexpr (Most > 1)
    if (size < Most) return with_size<Most - 1>(size, work);
  work(Size<Most>{});
}

/// Calls work(Size<size>{}, first) for `units` cut into blocks of nearly the same size, at most
/// Most: a block of one or two would wait for its own additions.
template <int64_t Most, class Work>
inline void in_blocks(int64_t units, Work work) {
  const int64_t blocks = (units + Most - 1) / Most;
  for (int64_t block = 0, first = 0; block < blocks; ++block) {
    const int64_t size = units * (block + 1) / blocks - first;
    with_size<Most>(size, [&](auto count) { work(count, first); });
    first += size;
  }
}

/// out[o][r] = b[o] + sum_i W[o][i] in[i][r] for one vector of rows.
template <int64_t Block>
inline void dense_rows(const float* W, const float* b, int64_t in, const float* input, int64_t R,
                       Lanes (&sums)[Block]) {
  for (int64_t o = 0; o < Block; ++o) sums[o] = broadcast(b[o]);
  for (int64_t i = 0; i < in; ++i) {
    const Lanes value = load(input + i * R);
#pragma GCC unroll 16
    for (int64_t o = 0; o < Block; ++o) sums[o] += broadcast(W[o * in + i]) * value;
  }
}

void dense(const float* parameters, const Layer& layer, const float* input, float* output,
           int64_t R) {
  in_blocks<8>(layer.out, [&]<int64_t Block>(Size<Block>, int64_t first) {
    const float* W = parameters + layer.offset + first * layer.in;
    for (int64_t r = 0; r < R; r += kLanes) {
      Lanes sums[Block];
      dense_rows(W, parameters + layer.bias() + first, layer.in, input + r, R, sums);
      for (int64_t o = 0; o < Block; ++o) store(output + (first + o) * R + r, sums[o]);
    }
  });
}

/// Lane k of the result is sum(vectors[k]): the same additions, of all vectors side by side.
template <int64_t Count>
inline Lanes sums_of(Lanes (&vectors)[Count]) {
  if constexpr (Count == 1) {
    return vectors[0];
  } else {
    Lanes halves[Count / 2];
#pragma GCC unroll 16
    for (int64_t i = 0; i < Count / 2; ++i) {
      swap_quarters<Count / 2>(vectors[i], vectors[i + Count / 2], Counts<kLanes>::Type());
      halves[i] = vectors[i] + vectors[i + Count / 2];
    }
    return sums_of(halves);
  }
}

// Accumulators of a block of outputs and inputs: as many as leave registers for the factors.
constexpr int64_t kMostOuts = kLanes == 16 ? 5 : 3, kMostIns = kLanes == 16 ? 5 : 4;

/// gradient[o][i] += sum_r delta[o][r] input[i][r] for a block of outputs and inputs.
template <int64_t Outs, int64_t Ins>
inline void outer_block(float* gradient, int64_t in, const float* delta, const float* input,
                        int64_t R) {
  constexpr int64_t kVectors = (Outs * Ins + kLanes - 1) / kLanes;
  Lanes sums[kVectors * kLanes] = {};  // [Outs][Ins], and what fills the last vector
  for (int64_t r = 0; r < R; r += kLanes) {
    Lanes values[Ins];
    for (int64_t i = 0; i < Ins; ++i) values[i] = load(input + i * R + r);
#pragma GCC unroll 8
    for (int64_t o = 0; o < Outs; ++o) {
      const Lanes d = load(delta + o * R + r);
#pragma GCC unroll 8
      for (int64_t i = 0; i < Ins; ++i) sums[o * Ins + i] += d * values[i];
    }
  }
  float totals[kVectors * kLanes];
  for (int64_t v = 0; v < kVectors; ++v) {
    Lanes totalled[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) totalled[i] = sums[v * kLanes + i];
    store(totals + v * kLanes, sums_of(totalled));
  }
  for (int64_t o = 0; o < Outs; ++o)
    for (int64_t i = 0; i < Ins; ++i) gradient[o * in + i] += totals[o * Ins + i];
}

/// gradient[o] += sum_r delta[o][r].
void bias_gradient(float* gradient, int64_t out, const float* delta, int64_t R) {
  for (int64_t first = 0; first < out; first += kLanes) {
    const int64_t count = min(kLanes, out - first);
    Lanes totals[kLanes] = {};
    for (int64_t o = 0; o < count; ++o)
      for (int64_t r = 0; r < R; r += kLanes) totals[o] += load(delta + (first + o) * R + r);
    const FirstLanes outs{count};
    store(gradient + first, load(gradient + first, outs) + sums_of(totals), outs);
  }
}

void dense_gradient(float* gradient, const Layer& layer, const float* delta, const float* input,
                    int64_t R) {
  in_blocks<kMostOuts>(layer.out, [&]<int64_t Outs>(Size<Outs>, int64_t o) {
    in_blocks<kMostIns>(layer.in, [&]<int64_t Ins>(Size<Ins>, int64_t i) {
      outer_block<Outs, Ins>(gradient + layer.offset + o * layer.in + i, layer.in, delta + o * R,
                             input + i * R, R);
    });
  });
  bias_gradient(gradient + layer.bias(), layer.out, delta, R);
}

/// below[i][r] = sum_o W[o][i] delta[o][r] for one vector of rows; `in` is the width of W.
template <int64_t Block>
inline void back_rows(const float* W, int64_t in, int64_t out, const float* delta, int64_t R,
                      Lanes (&sums)[Block]) {
  for (int64_t i = 0; i < Block; ++i) sums[i] = Lanes{};
  for (int64_t o = 0; o < out; ++o) {
    const Lanes d = load(delta + o * R);
#pragma GCC unroll 16
    for (int64_t i = 0; i < Block; ++i) sums[i] += broadcast(W[o * in + i]) * d;
  }
}

void dense_back(const float* parameters, const Layer& layer, const float* delta, float* below,
                int64_t R) {
  in_blocks<8>(layer.in, [&]<int64_t Block>(Size<Block>, int64_t first) {
    const float* W = parameters + layer.offset + first;
    for (int64_t r = 0; r < R; r += kLanes) {
      Lanes sums[Block];
      back_rows(W, layer.in, layer.out, delta + r, R, sums);
      for (int64_t i = 0; i < Block; ++i) store(below + (first + i) * R + r, sums[i]);
    }
  });
}

}  // namespace
}  // namespace fovea::kernels
