// One layer of nn/recurrent/recurrent.h over a padded batch of sequences: by the kernels of
// kernels/recurrent, which take float32 on a CPU, or by LibTorch.
#pragma once

#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

/// The lengths of a batch of sequences, and where each begins when they lie one after the other
/// without padding. Made once per batch, used by every layer.
struct SequenceLayout {
  /// `lengths`: int64 [rows] on the CPU, each in 0 … steps, or undefined when all are `steps`.
  SequenceLayout(const at::Tensor& lengths, int64_t rows, int64_t steps);

  int64_t rows, steps;              // B, S
  int64_t entries = 0;              // N: the steps of all rows
  std::vector<int64_t> lengths;     // [B]
  std::vector<int64_t> first;       // [B]: a row's first entry
  std::vector<int64_t> descending;  // [B]: all rows, the longest first

  bool is_padded() const { return entries < rows * steps; }
};

struct RecurrentLayer {
  std::string cell;                 // rnn, gru or lstm
  std::vector<at::Tensor> weights;  // per direction: w_ih [G H, I], w_hh [G H, H], b_ih, b_hh
  ResetGate reset = {};

  int64_t directions() const { return static_cast<int64_t>(weights.size()) / 4; }
  int64_t hidden_size() const { return weights[1].size(1); }
};

/// x [B, S, I]; `start` has one tensor [B, H] per direction, or none: zeros. A row of length 0
/// leaves its state as it is.
RecurrentOutput run_layer(const RecurrentLayer& layer, const at::Tensor& x,
                          const std::shared_ptr<const SequenceLayout>& layout,
                          const RecurrentState& start);

/// The same by kernels/recurrent, for float32 on a CPU: forward and backward of all steps in one
/// node of the graph. Nothing is computed for padding. The large products (inputs with their
/// weights; gradients of weights and inputs) are LibTorch's, in blocks that run side by side.
/// Gradients of gradients go through LibTorch's layers.
RecurrentOutput run_fused_layer(const RecurrentLayer& layer, const at::Tensor& x,
                                const std::shared_ptr<const SequenceLayout>& layout,
                                const RecurrentState& start);

/// The same by LibTorch, on every device, for every type, and as often differentiable as one likes.
RecurrentOutput run_library_layer(const RecurrentLayer& layer, const at::Tensor& x,
                                  const SequenceLayout& layout, const RecurrentState& start);

/// The same where lengths int64 [B] are on a GPU and nobody waits to read them, and for a GRU whose
/// reset gate is not torch's: padding is computed like everything else, and then left out.
RecurrentOutput run_padded_layer(const RecurrentLayer& layer, const at::Tensor& x,
                                 const at::Tensor& lengths, const RecurrentState& start);

}  // namespace fovea
