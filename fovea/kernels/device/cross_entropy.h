// Softmax cross-entropy of rows of logits x on a GPU, with label smoothing s over V classes:
//   l_i   = log sum_j exp x_ij
//   loss_i = share_i (l_i - (1 - s) x_it - s mean_j x_ij)
//   dx_ij = arrived share_i (exp(x_ij - l_i) - (1 - s) [j = t] - s / V)
// Logits are read once forward and once backward, in the type that they have, and no probability is
// stored. nn/cross_entropy.cc has the same in readable form. Everything lies on the GPU and is
// launched on `stream`, a cudaStream_t; builds without nvcc have no such kernels (device.h).
#pragma once

#include <cstdint>

#include "fovea/kernels/device/number_type.h"

namespace fovea::kernels::device {

struct CrossEntropy {
  NumberType type = NumberType::Float32;
  int64_t rows = 0, classes = 0;     // N, V
  const void* logits = nullptr;      // [N, V]
  const int64_t* targets = nullptr;  // [N], each below V
  const float* shares = nullptr;     // [N]; a row that has none is not read
  float smoothing = 0;
  float* logs = nullptr;  // l [N]: written forward, read backward
};

/// losses [N]
void cross_entropy_forward(const CrossEntropy& of, float* losses, void* stream);

/// gradients [N, V] in the type of the logits, which they may overwrite; arrived: one number.
void cross_entropy_backward(const CrossEntropy& of, const float* arrived, void* gradients,
                            void* stream);

}  // namespace fovea::kernels::device
