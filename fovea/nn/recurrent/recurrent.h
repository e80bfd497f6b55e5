// Recurrent networks over whole sequences and step by step, with the parameters, names and layouts
// of torch.nn.RNN (tanh), torch.nn.GRU and torch.nn.LSTM (weight_ih_l0 [G H, I], weight_hh_l0,
// bias_ih_l0, bias_hh_l0, …_reverse), so that state dicts fit. torch's GRU gates the product:
//   h~ = tanh(W x + b + r * (U h + b'));  h = (1 - z) * h~ + z * h_prev
// where Cho 2014 and Bahdanau 2015 write U (r * h); ResetGate has both. Padding never enters, and
// no work is done for it. Dropout between layers uses one mask for all steps of a sequence (Gal and
// Ghahramani 2016).
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "fovea/tensor/random.h"

namespace fovea {

/// What the reset gate of a GRU scales in the candidate h~. The kernels have torch's form; the
/// others are computed step by step in LibTorch operations.
struct ResetGate {
  bool before = false;  // W x + b + U (r * h) + b', the papers' form
  int64_t inputs = 0;   // of the last inputs c of layer 0: W x + b + r * (U h + C c + b')
  bool is_usual() const { return !before && inputs == 0; }
};

struct RecurrentOptions {
  std::string cell = "gru";  // rnn, gru or lstm
  int64_t input_size = 0;
  int64_t hidden_size = 0;  // of each direction
  int64_t layers = 1;
  bool bidirectional = false;
  double dropout = 0;  // between layers
  ResetGate reset = {};
};

/// What a layer remembers; one tensor [B, H] per layer and direction (layer 0 forward, layer 0
/// backward, layer 1 forward, …).
struct RecurrentState {
  std::vector<at::Tensor> hidden;
  std::vector<at::Tensor> cell;  // lstm only

  /// The examples of `rows` (int64 [R], repetition allowed).
  RecurrentState select(const at::Tensor& rows) const;
  /// The states of further layers.
  void append(const RecurrentState& more);
};

struct RecurrentOutput {
  at::Tensor outputs;    // [B, S, D H], 0 at padding
  RecurrentState state;  // after the last real step (backward: after the first), or the start
};

struct RecurrentLayer;  // recurrent_layer.h

class Recurrent : public torch::nn::Module {
 public:
  explicit Recurrent(RecurrentOptions options);

  /// Matrices of the input Glorot uniform, recurrent ones orthogonal (each gate), biases 0 (lstm:
  /// 1 for the forget gate).
  void initialise(const Random& random);

  /// A whole sequence. x [B, S, I]; lengths int64 [B], each in 0 … S, or undefined when all are S;
  /// `start` may be empty: zeros; `masks` from dropout_masks(), or empty. Lengths on a GPU are
  /// never waited for: steps of padding are computed and thrown away.
  RecurrentOutput run(const at::Tensor& x, const at::Tensor& lengths, const RecurrentState& start,
                      const std::vector<at::Tensor>& masks) const;

  /// One step of a network that goes forward only. x [B, I]; the new output is hidden.back().
  RecurrentState step(const at::Tensor& x, const RecurrentState& state,
                      const std::vector<at::Tensor>& masks) const;

  /// One mask per border between two layers, scaled; empty without dropout.
  std::vector<at::Tensor> dropout_masks(int64_t batch, const Random* random) const;

  RecurrentState zeros(int64_t batch) const;
  RecurrentLayer layer(int64_t layer) const;
  const RecurrentOptions& options() const { return options_; }
  int64_t output_size() const { return directions() * options_.hidden_size; }

 private:
  int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  RecurrentOptions options_;
  std::vector<std::vector<at::Tensor>> weights_;  // per layer and direction: w_ih, w_hh, b_ih, b_hh
};

/// Rows orthonormal (columns, when there are more rows): [rows, columns], drawn from `random`.
at::Tensor orthogonal(int64_t rows, int64_t columns, const Random& random);

/// x [B, …, D] times one mask [B, 1 …, D] per example, the same at every step.
at::Tensor sequence_dropout(const at::Tensor& x, double rate, const Random* random);

}  // namespace fovea
