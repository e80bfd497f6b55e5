// What follows a matrix product in a feed-forward part or a readout, in one pass: y = dropout(act(x
// + bias)),
//   relu  max(u, 0)
//   gelu  u Phi(u), Phi the normal distribution function; Hendrycks and Gimpel 2016, exact form
//   tanh  tanh(u)
// Backward: du = dropout's share of dy, times act'(u); dbias = sum over rows of du. relu' is 1
// where y > 0, so that y is all it needs, the dropped elements included; gelu' = Phi(u) + u phi(u),
// tanh' = 1 - tanh(u)^2.
// A NaN that is kept stays one. Work is cut into parts of kActivationRows rows; the parts' sums are
// added in their order.
#pragma once

#include <cstdint>

#include "fovea/kernels/dropout.h"

namespace fovea::kernels {

constexpr int64_t kActivationRows = 32;  // rows of one part

enum class Activation { Relu, Gelu, Tanh };

struct ActivationShape {
  Activation kind = Activation::Relu;
  int64_t rows = 0, columns = 0;
  Dropout dropout{};  // of the result

  int64_t parts() const { return (rows + kActivationRows - 1) / kActivationRows; }
};

/// x, y [rows, columns], bias [columns]. y may be x.
void activation_forward(const ActivationShape& shape, int64_t part, const float* x,
                        const float* bias, float* y);

struct ActivationBackward {
  const float* kept;  // [rows, columns]: y for relu, else x
  const float* bias;  // [columns], for all but relu
  const float* dy;    // [rows, columns]
  float* dx;          // [rows, columns], the same as du; may be dy
  float* sums;        // [parts, columns]: dbias of each part
};

void activation_backward(const ActivationShape& shape, int64_t part, const ActivationBackward& at);

/// Adds the parts up: sums [parts, columns] -> dbias [columns].
void activation_sums(const ActivationShape& shape, const float* sums, float* dbias);

}  // namespace fovea::kernels
