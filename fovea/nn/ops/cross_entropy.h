// The loss of a prediction among many classes, with label smoothing (Szegedy et al. 2016):
//   loss = sum_i w_i l_i / sum_i w_i,   l_i = -sum_c q_ic log softmax(x_i)_c
//   q_ic = (1 - smoothing) [c = target_i] + smoothing / V
// Rows whose target is `padding` do not count, whatever stands in them; when none counts, the loss
// is 0. With equal weights this is PyTorch's cross_entropy. Float32 on a CPU, and logits on a GPU,
// go through kernels/cross_entropy, which stores no probabilities; everything else, and gradients
// of gradients, through readable tensor operations.
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

struct CrossEntropyOptions {
  double label_smoothing = 0;  // in [0, 1)
  int64_t padding = -100;      // the target of rows that do not count
};

/// logits [N, V], targets int64 [N], weights [N] or undefined: all the same -> a scalar
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& targets,
                         const CrossEntropyOptions& options, const at::Tensor& weights = {});

/// The layer in front of the loss: logits = hidden weight^T + bias.
struct OutputLayer {
  at::Tensor weight;  // [V, D]
  at::Tensor bias;    // [V], or undefined
};

/// The same with hidden [N, D] instead of logits. In training on a CPU this is the fastest way: the
/// logits of some rows are made, turned into their gradient where they stand, multiplied into the
/// gradients of hidden, weight and bias, and forgotten.
at::Tensor cross_entropy(const at::Tensor& hidden, const OutputLayer& layer,
                         const at::Tensor& targets, const CrossEntropyOptions& options,
                         const at::Tensor& weights = {});

}  // namespace fovea
