// Where the heads of a neural Turing machine look, Graves et al. 2014: four steps, each of which
// takes and gives distributions over the N slots of a memory.
//   content   w(i) = softmax_i(strength K[key, M(i)]),  K[u, v] = u . v / (|u| |v|)
//   gate      w = gate w_content + (1 - gate) w_before
//   shift     w(i) = sum_j w(j) s((i - j) mod N),  s a distribution over -R … R
//   sharpen   w(i) = w(i)^sharpness / sum_j w(j)^sharpness
// Two traps: the cosine has no gradient at a vector of zeros, which memory is made of at first, so
// lengths are sqrt(v . v + 1e-6) here; and powers of small weights vanish, so the last step is a
// softmax of sharpness log w.
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

/// memory [B, N, M], key [B, H, M], strength [B, H, 1] > 0 -> [B, H, N]
at::Tensor address_by_content(const at::Tensor& memory, const at::Tensor& key,
                              const at::Tensor& strength);

/// content, before [B, H, N], gate [B, H, 1] in 0 … 1 -> [B, H, N]
at::Tensor gate_address(const at::Tensor& content, const at::Tensor& before,
                        const at::Tensor& gate);

/// weights [B, H, N]; shifts [B, H, 2 R + 1], the middle one is none, the last R slots onwards.
at::Tensor shift_address(const at::Tensor& weights, const at::Tensor& shifts);

/// weights [B, H, N], sharpness [B, H, 1] >= 1 -> [B, H, N]
at::Tensor sharpen_address(const at::Tensor& weights, const at::Tensor& sharpness);

/// What a controller says to its heads, as it comes out of a linear layer; squashed by take().
struct AddressParameters {
  at::Tensor key;        // [B, H, M], tanh
  at::Tensor strength;   // [B, H, 1], softplus
  at::Tensor gate;       // [B, H, 1], sigmoid
  at::Tensor shifts;     // [B, H, 2 R + 1], softmax
  at::Tensor sharpness;  // [B, H, 1], 1 + softplus

  /// Views of raw [B, H, size(width, range)], not squashed yet.
  static AddressParameters split(const at::Tensor& raw, int64_t width, int64_t range);
  static AddressParameters take(const at::Tensor& raw, int64_t width, int64_t range);
  static int64_t size(int64_t width, int64_t range) { return width + 3 + 2 * range + 1; }
};

/// All four steps. memory [B, N, M], before [B, H, N] -> [B, H, N]
at::Tensor address(const at::Tensor& memory, const AddressParameters& parameters,
                   const at::Tensor& before);

}  // namespace fovea
