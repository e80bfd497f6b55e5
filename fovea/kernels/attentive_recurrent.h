// A recurrent layer that looks at a memory before each of its steps (Bahdanau 2015), over a batch
// of whole sequences, forward and backward. h and c are what the step before left; the memory has
// keys k_j and values m_j:
//   e_j = v . tanh(A h + a + k_j), or scale h . k_j; tanh(q + k) = 1 - 2 / (1 + e^2q e^2k), so that
//         each key and each query is raised once, and not every pair
//   w   = softmax of e over the keys that are kept; all 0 where none is
//   z   = sum_j w_j m_j
//   h', c' = cell(p + Z z, h, c)     with the cells of recurrent.h and p in place of W x
// p, the products of the layer's other inputs, is the caller's, as are, after the backward pass,
// the gradients of the weights: sums over all entries of d with those inputs, with z (Z) and with h
// (U), and of the query's gradient with h (A).
//
// Entry b T + t is step t of row b; all rows have T steps. Work is cut into parts as in
// recurrent.h.
#pragma once

#include "fovea/kernels/recurrent.h"

namespace fovea::kernels {

struct AttentiveShape {
  RecurrentCell cell = RecurrentCell::Gru;
  int64_t hidden = 0;             // H
  int64_t rows = 0;               // B
  int64_t steps = 0;              // T
  int64_t keys = 0;               // K
  int64_t key_size = 0;           // F; H without a query of its own
  int64_t value_size = 0;         // C
  bool additive = true;           // else the scaled product of h and the key
  float scale = 1;                // of that product
  const uint8_t* keep = nullptr;  // [B, K]: keys that may be looked at; null: all

  RecurrentShape recurrent() const;  // the layer without its memory
  int64_t gates() const;             // G and K, as there
  int64_t kept() const;
  /// Numbers of the query A h: none where h itself is the query.
  int64_t query_size() const { return additive ? key_size : 0; }
  int64_t rows_of_part() const;  // all but the last part have so many
  int64_t parts() const;
  int64_t packed() const;   // floats of packed weights, for either pass
  int64_t scratch() const;  // floats of working memory of one running part, for either pass
};

struct AttentiveWeights {
  const float* z;      // Z [G H, C]
  int64_t z_row;       // numbers between two rows of it
  const float* u;      // U [G H, H]
  const float* query;  // A [F, H]; not read unless additive
};

void attentive_pack_forward(const AttentiveShape& shape, const AttentiveWeights& weights,
                            float* packed);
void attentive_pack_backward(const AttentiveShape& shape, const AttentiveWeights& weights,
                             float* packed);

struct AttentiveForward {
  const float* packed;                       // of attentive_pack_forward()
  const float *input_bias, *recurrent_bias;  // b, b' [G H]
  const float *query_bias, *energy;          // a [F] or null: 0, v [F]; not read unless additive
  const float *keys, *values;                // [B, K, F], [B, K, C]
  const float *start_hidden, *start_cell;    // [B, H]
  float* gates;                        // [N, K H]: p on the way in, in the first G H numbers of
                                       // each entry; what backward needs on the way out
  float *hidden_before, *cell_before;  // [N, H], for backward
  float* queries;                      // [N, F], for backward: A h + a
  float* attention;                    // [N, K]: w
  float *outputs, *contexts;           // h' [N, H], z [N, C]
};

void attentive_forward(const AttentiveShape& shape, int64_t part, const AttentiveForward& at,
                       float* scratch);

struct AttentiveBackward {
  const float* packed;                       // of attentive_pack_backward()
  const float* energy;                       // v [F]
  const float *keys, *values;                // [B, K, F], [B, K, C]
  const float* gates;                        // [N, K H], from the forward pass, as what follows
  const float *hidden_before, *cell_before;  // [N, H]
  const float *queries, *attention;          // [N, F], [N, K]
  const float *outputs, *contexts;           // the gradients of h' and z that arrived; null: 0
  float* gate_gradients;                     // [N, K H]: d, as in recurrent.h
  float* query_gradients;                    // [N, F], additive
  float *key_gradients, *value_gradients;    // [B, K, F], [B, K, C]
  float *start_hidden, *start_cell;          // [B, H]: the gradients of the first state
  float* sums;                               // [parts, K H]: d summed over each part's entries
  float* energy_sums;                        // [parts, F]: the gradient of v, likewise; additive
};

void attentive_backward(const AttentiveShape& shape, int64_t part, const AttentiveBackward& at,
                        float* scratch);

}  // namespace fovea::kernels
