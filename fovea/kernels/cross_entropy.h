// Cross-entropy over many classes with label smoothing (Szegedy et al. 2016), one row per
// prediction:
//   p = softmax(x),  q_c = (1 - smoothing) [c = target] + smoothing / classes
//   loss = sum over rows of share * -sum_c q_c log p_c
//        = sum over rows of share * (lse(x) - (1 - smoothing) x_target - smoothing mean(x))
//   gradient = share * (p - q)
// A row's share is what it weighs in the mean; a row with share 0 (padding) is not looked at, and
// its gradient is 0. Nothing but the gradient is stored. Work is cut into parts of
// kCrossEntropyRows rows.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr int64_t kCrossEntropyRows = 8;  // rows of one part

struct CrossEntropyShape {
  int64_t rows = 0, classes = 0;
  double smoothing = 0;

  int64_t parts() const { return (rows + kCrossEntropyRows - 1) / kCrossEntropyRows; }
};

struct CrossEntropyRows {
  const float* logits;     // [rows, classes]
  const int64_t* targets;  // [rows], each in 0 … classes-1 where the share is not 0
  const float* shares;     // [rows]
  float* gradient;         // [rows, classes]; may be the logits; null: nobody wants it
};

/// The loss of a part's rows.
double cross_entropy(const CrossEntropyShape& shape, int64_t part, const CrossEntropyRows& at);

}  // namespace fovea::kernels
