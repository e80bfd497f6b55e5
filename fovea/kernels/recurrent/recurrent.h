// A recurrent layer over a batch of whole sequences, forward and backward, one direction at a time,
// with PyTorch's gates in PyTorch's order. x is the input of a step, h and c are what the step
// before it left:
//   rnn   h' = tanh(W x + b + U h + b')
//   gru   r, z = sigma(W x + b + U h + b')     q = U_n h + b'_n     n = tanh(W_n x + b_n + r q)
//         h' = n + z (h - n)
//   lstm  i, f, o = sigma(W x + b + U h + b')     g = tanh(W_g x + b_g + U_g h + b'_g)
//         c' = f c + i g     h' = o tanh(c')
// What all steps can do at once, and memory decides the speed of, is left to the caller: after the
// backward pass the gradients of W (sum of d x) and of U (sum of d h), from the gradient d of the
// gates; and, where W is too large to stay in the caches, W x before the forward pass and the
// gradient W^T d of x after the backward pass.
//
// Sequences lie one after the other without padding: entry first[row] + t is step t of a row. Only
// the layer's results are padded. A row that has ended keeps its state, and no work is done for it.
// Work is cut into slices of at most kRecurrentRows rows, longest first; the caller runs them in
// any order, on any number of threads, with the same bits.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr int64_t kRecurrentRows = 32;  // rows of one slice, at most

enum class RecurrentCell { Rnn, Gru, Lstm };

/// The shape of one direction of a layer.
struct RecurrentShape {
  RecurrentCell cell = RecurrentCell::Gru;
  int64_t hidden = 0;                   // H
  int64_t inputs = 0;                   // I; 0: products with W are the caller's
  bool reversed = false;                // from a row's last step to its first
  int64_t rows = 0;                     // B
  int64_t steps = 0;                    // S, at least the largest length
  const int64_t* lengths = nullptr;     // [B], each in 0 … S
  const int64_t* first = nullptr;       // [B]: a row's first entry
  const int64_t* descending = nullptr;  // [B]: all rows, the longest first

  /// G: the blocks of H rows in W and in U.
  int64_t gates() const {
    return cell == RecurrentCell::Rnn ? 1 : cell == RecurrentCell::Gru ? 3 : 4;
  }
  /// K: how many numbers per unit an entry keeps; gru: r, z, n and q, else one per gate.
  int64_t saved() const { return cell == RecurrentCell::Gru ? 4 : gates(); }
  /// Which of the K blocks the product U h of a gate belongs to: gru's third one to q.
  int64_t saved_of(int64_t gate) const {
    return cell == RecurrentCell::Gru && gate == 2 ? 3 : gate;
  }

  int64_t rows_of_slice() const;  // all but the last slice have so many
  int64_t slices() const;
  int64_t packed() const;   // floats of packed weights, for either pass
  int64_t scratch() const;  // floats of working memory of one running slice, for either pass
};

/// W [G H, I] and U [G H, H] in the order in which a pass reads them, once per call: `packed` holds
/// shape.packed(). Without inputs W is not read.
void recurrent_pack_forward(const RecurrentShape& shape, const float* w, const float* u,
                            float* packed);
void recurrent_pack_backward(const RecurrentShape& shape, const float* w, const float* u,
                             float* packed);

struct RecurrentForward {
  const float* packed;                       // of recurrent_pack_forward()
  const float *input_bias, *recurrent_bias;  // b, b' [G H]
  const float *start_hidden, *start_cell;    // [B, H]; null: zeros
  const float* x;                            // [N, I]; not read without inputs
  float* gates;                              // [N, K H]: what backward needs of them; without
                                             // inputs it holds W x on the way in, in the first G H
                                             // numbers of each entry
  float *hidden_before, *cell_before;        // [N, H], for backward; null: nobody wants it, and
                                             // the gates are not written
  float* outputs;                            // h' of every step [B, S, H], 0 at padding
  int64_t output_row;                        // numbers between two steps of it
  float *last_hidden, *last_cell;            // [B, H]
};

void recurrent_forward(const RecurrentShape& shape, int64_t slice, const RecurrentForward& at,
                       float* scratch);

struct RecurrentBackward {
  const float* packed;                       // of recurrent_pack_backward()
  const float* gates;                        // [N, K H], from the forward pass
  const float *hidden_before, *cell_before;  // [N, H], from the forward pass
  const float* outputs;                      // [B, S, H]: the gradient of the outputs; null: 0
  int64_t output_row;                        // numbers between two steps of it
  const float *last_hidden, *last_cell;      // [B, H]: the gradients of the last state; null: 0
  float* gate_gradients;                     // [N, K H]: d; with W go the first G blocks, with U
                                             // those that shape.saved_of() says
  float* x;                                  // [N, I]: the gradient of x; null: nobody wants it
  bool adds_to_x;                            // the other direction's stands there already
  float *start_hidden, *start_cell;          // [B, H]: the gradients of the first state
  float* sums;                               // [slices, K H]: d summed over each slice's entries
};

void recurrent_backward(const RecurrentShape& shape, int64_t slice, const RecurrentBackward& at,
                        float* scratch);

/// The gradients of the biases [G H] from the sums of all slices.
void recurrent_bias_gradients(const RecurrentShape& shape, const float* sums, float* input_bias,
                              float* recurrent_bias);

}  // namespace fovea::kernels
