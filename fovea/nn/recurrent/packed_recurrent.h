// A recurrent network that goes step by step with weights that do not change between the steps, as
// in a search: packed once, every step one pass of kernels/recurrent, or, made in a scope of bf16
// (tensor/product.h), rounded products and kernels/cell_step. What kernels do not take goes through
// Recurrent::step().
#pragma once

#include <optional>
#include <vector>

#include "fovea/kernels/recurrent/recurrent.h"
#include "fovea/nn/ops/packed_projection.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

class PackedRecurrent {
 public:
  /// Of a network that goes forward only and does not change while this lives.
  explicit PackedRecurrent(const Recurrent& recurrent);

  /// x [R, I]; the new output is hidden.back().
  RecurrentState step(const at::Tensor& x, const RecurrentState& state) const;

 private:
  struct Layer {
    kernels::RecurrentShape shape;  // of a step, without its rows
    at::Tensor packed, input_bias, recurrent_bias;
    std::optional<PackedProjection> of_input, of_state;  // rounded: instead of `packed`
  };
  void step_rounded(const Layer& layer, const at::Tensor& x, const at::Tensor& hidden,
                    const at::Tensor& cell) const;
  const Recurrent& recurrent_;
  std::vector<Layer> layers_;  // empty: not for kernels
};

}  // namespace fovea
