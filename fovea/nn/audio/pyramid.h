// An encoder of long sequences: layers that read from both ends, of which the upper ones read pairs
// of what the layer below wrote, so that each halves the length (Chan et al. 2016). Attention then
// has fewer places to choose from.
//   h^0   = both directions over the inputs, `stack` of them at a time
//   h^i_j = both directions over h^{i-1}_j                         plain layers, the lower ones
//   h^i_j = both directions over [h^{i-1}_{2j} ; h^{i-1}_{2j+1}]   pyramid layers, the upper ones
// One output stands for stack * 2^pyramid inputs. What is missing of the last one counts as 0.
#pragma once

#include <memory>

#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct PyramidOptions {
  std::string cell = "gru";
  int64_t input_size = 0;
  int64_t hidden_size = 0;  // of each direction
  int64_t layers = 3;
  int64_t stack = 1;    // inputs that the first layer reads at a time
  int64_t pyramid = 0;  // of the layers above the first: how many read pairs
  double dropout = 0;   // between layers, one mask for all steps
  ResetGate reset = {};
};

struct PyramidOutput {
  at::Tensor outputs;    // [B, K, 2 H], 0 at padding
  at::Tensor keep;       // bool [B, K]
  RecurrentState state;  // of the uppermost layer: forward, backward
};

class Pyramid : public torch::nn::Module {
 public:
  explicit Pyramid(PyramidOptions options);
  void initialise(const Random& random);

  /// x [B, S, I], keep bool [B, S]: the real inputs, which stand first. Without `random` nothing is
  /// dropped.
  PyramidOutput run(const at::Tensor& x, const at::Tensor& keep, const Random* random) const;

  int64_t factor() const;  // inputs of one output
  int64_t output_size() const { return 2 * options_.hidden_size; }
  const PyramidOptions& options() const { return options_; }

 private:
  int64_t joined(int64_t layer) const;  // inputs that the layer reads at a time
  PyramidOptions options_;
  std::vector<std::shared_ptr<Recurrent>> layers_;
};

/// `count` neighbours become one. x [B, S, D] -> [B, ceil(S / count), count D]
at::Tensor join_neighbours(const at::Tensor& x, int64_t count);

}  // namespace fovea
