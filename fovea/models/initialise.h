// Fresh parameters from counter-based random numbers, by the rules of the papers and frameworks
// that models name.
#pragma once

#include <ATen/core/Tensor.h>

#include "fovea/tensor/random.h"

namespace fovea {

/// Keras: matrices [out, in] Glorot-uniform, U(-r, r) with r = sqrt(6 / (in + out)); vectors zero.
void initialise_like_keras(const at::Tensor& parameter, const Random& random);

/// PyTorch's Linear: weight and bias U(-r, r) with r = 1 / sqrt(in).
void initialise_like_pytorch(const at::Tensor& parameter, int64_t fan_in, const Random& random);

/// N(0, deviation^2).
void initialise_normal(const at::Tensor& parameter, double deviation, const Random& random);

/// Word vectors [V, E] from elsewhere in place of those rows of an embedding table [V, E] of which
/// `known`, bool [V], says so.
void take_word_vectors(const at::Tensor& table, const at::Tensor& vectors, const at::Tensor& known);

}  // namespace fovea
