// What a sequence knows of its positions when attention itself does not tell them apart:
//   sinusoidal  x_p + PE(p), PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(same)
//               (Vaswani 2017)
//   learned     x_p + a row of a table, for at most `maximum` positions (Gehring 2017, Devlin 2018)
//   none        nothing: for rotary and alibi, which live in the attention (multi_head.h), or for
//               a decoder that gets by with the causal mask
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <string>

#include "fovea/tensor/random.h"

namespace fovea {

struct PositionOptions {
  std::string name = "sinusoidal";  // sinusoidal, learned or none
  int64_t width = 0;
  int64_t maximum = 512;  // learned: positions in the table
};

class Positions : public torch::nn::Module {
 public:
  explicit Positions(PositionOptions options);
  void initialise(const Random& random);  // learned: N(0, 0.02), as BERT has it

  /// x [B, N, d] stands at the positions first … first + N - 1. BadData beyond a learned table.
  at::Tensor add(const at::Tensor& x, int64_t first) const;

  at::Tensor weight;  // [maximum, d], learned

 private:
  PositionOptions options_;
};

/// PE of the positions first … first + count - 1: [count, width].
at::Tensor sinusoidal_positions(int64_t first, int64_t count, int64_t width,
                                const at::Device& device = at::kCPU);

}  // namespace fovea
