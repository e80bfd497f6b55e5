// Cross-entropy over many classes with label smoothing (Szegedy et al. 2016), one row per
// prediction:
//   p = softmax(x),  q_c = (1 - smoothing) [c = target] + smoothing / classes
//   loss = sum over rows of share * -sum_c q_c log p_c
//        = sum over rows of share * (lse(x) - (1 - smoothing) x_target - smoothing mean(x))
//   gradient = share * (p - q)
// A row's share is what it weighs in the mean; a row with share 0 (padding) is not looked at, and
// its gradient is 0. Nothing but the gradient is stored. Work is cut into slices of
// kCrossEntropyRows rows.
#pragma once

#include <cstdint>

#include "fovea/kernels/device/number_type.h"

namespace fovea::kernels {

constexpr int64_t kCrossEntropyRows = 8;  // rows of one slice

struct CrossEntropyShape {
  int64_t rows = 0, classes = 0;
  double smoothing = 0;

  int64_t slices() const { return (rows + kCrossEntropyRows - 1) / kCrossEntropyRows; }
};

struct CrossEntropyRows {
  const float* logits;     // [rows, classes]
  const int64_t* targets;  // [rows], each in 0 … classes-1 where the share is not 0
  const float* shares;     // [rows]
  float* gradient;         // [rows, classes]; may be the logits; null: nobody wants it
};

/// The loss of a slice's rows.
double cross_entropy(const CrossEntropyShape& shape, int64_t slice, const CrossEntropyRows& at);

}  // namespace fovea::kernels

// On a GPU, with l_i = log sum_j exp x_ij. Logits are read once forward and once backward, in the
// type that they have, and no probability is stored. Everything lies on the GPU and is launched on
// `stream`, a cudaStream_t.
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
