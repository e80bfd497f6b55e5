// The forward and the backward pass of a recurrent layer by kernels/recurrent, on plain tensors:
// what recurrent_layer.cc makes a node of the graph of. Float32 on a CPU.
#pragma once

#include <functional>

#include "fovea/kernels/recurrent/recurrent.h"
#include "fovea/nn/recurrent/recurrent_layer.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

kernels::RecurrentCell cell_named(const std::string& name);

/// Everything about a call besides its numbers.
struct RecurrentPlan {
  std::string cell;
  std::shared_ptr<const SequenceLayout> layout;
  int64_t directions = 1, inputs = 0, hidden = 0;
  bool has_start = false;

  bool has_cell() const { return cell == "lstm"; }
  kernels::RecurrentShape shape(int64_t direction) const;
};

/// A call's tensors in the order in which the graph knows them: x, the weights of each direction
/// and, where there is a start, the hidden states of each direction, then the cells. All but x are
/// contiguous.
struct RecurrentInputs {
  at::TensorList list;
  const RecurrentPlan& plan;

  enum Weight { kWeightInput, kWeightRecurrent, kBiasInput, kBiasRecurrent };
  static size_t place(int64_t direction, Weight weight) {
    return 1 + 4 * static_cast<size_t>(direction) + weight;
  }
  size_t start_place(int64_t direction, bool cell) const {
    return 1 + static_cast<size_t>((cell ? 5 : 4) * plan.directions + direction);
  }

  const at::Tensor& x() const { return list[0]; }
  const at::Tensor& weight(int64_t direction, Weight which) const {
    return list[place(direction, which)];
  }
  RecurrentLayer layer() const;
  RecurrentState start() const;
};

/// What the forward pass of one direction leaves.
struct SavedForBackward {
  at::Tensor gates;                       // [N, K H]
  at::Tensor hidden_before, cell_before;  // [N, H], when there will be a backward pass
};

struct RecurrentPass {
  /// {outputs [B, S, D H], last hidden states [B, H] of each direction, last cells of each}
  std::vector<at::Tensor> results;
  std::vector<SavedForBackward> saved;  // per direction
};

/// x [B, S, I] -> entries [N, I], without padding; no copy where there is none.
at::Tensor without_padding(const at::Tensor& x, const SequenceLayout& layout);

/// `entries`: of x. `keep`: there will be a backward pass.
RecurrentPass recurrent_forward_pass(const RecurrentInputs& in, const at::Tensor& entries,
                                     bool keep);

/// target [G H, H], the gradient of U, from those of the gates [N, K H] and the states before each
/// step [N, H]. Gates whose gradients stand side by side share a product.
void add_recurrent_product(const kernels::RecurrentShape& shape, const at::Tensor& target,
                           const at::Tensor& gates, const at::Tensor& hidden_before, Jobs& jobs);

struct RecurrentArrived {
  const std::vector<at::Tensor>& gradients;  // one per result, or undefined: 0
  std::function<bool(size_t)> wanted;        // whether somebody wants the gradient of an input
};

/// One gradient per input, undefined where nobody wants it.
std::vector<at::Tensor> recurrent_backward_pass(const RecurrentInputs& in,
                                                const at::Tensor& entries,
                                                const std::vector<SavedForBackward>& saved,
                                                const RecurrentArrived& arrived);

}  // namespace fovea
