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
// Entry b T + t is step t of row b; all rows have T steps. Work is cut into slices as in
// recurrent.h.
#pragma once

#include "fovea/kernels/device/number_type.h"
#include "fovea/kernels/recurrent/recurrent.h"

namespace fovea::kernels {

struct AttentionDecoderShape {
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

  /// The layer without its memory.
  RecurrentShape recurrent() const {
    return {.cell = cell, .hidden = hidden, .rows = rows, .steps = steps};
  }
  int64_t gates() const { return recurrent().gates(); }  // G and K, as there
  int64_t saved() const { return recurrent().saved(); }
  /// Numbers of the query A h: none where h itself is the query.
  int64_t query_size() const { return additive ? key_size : 0; }
  int64_t rows_of_slice() const { return recurrent().rows_of_slice(); }
  int64_t slices() const { return recurrent().slices(); }
  int64_t packed() const;   // floats of packed weights, for either pass
  int64_t scratch() const;  // floats of working memory of one running slice, for either pass
};

struct AttentionDecoderWeights {
  const float* z;      // Z [G H, C]
  int64_t z_row;       // numbers between two rows of it
  const float* u;      // U [G H, H]
  const float* query;  // A [F, H]; not read unless additive
};

void attention_decoder_pack_forward(const AttentionDecoderShape& shape,
                                    const AttentionDecoderWeights& weights, float* packed);
void attention_decoder_pack_backward(const AttentionDecoderShape& shape,
                                     const AttentionDecoderWeights& weights, float* packed);

struct AttentionDecoderForward {
  const float* packed;                       // of attention_decoder_pack_forward()
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

void attention_decoder_forward(const AttentionDecoderShape& shape, int64_t slice,
                               const AttentionDecoderForward& at, float* scratch);

struct AttentionDecoderBackward {
  const float* packed;                       // of attention_decoder_pack_backward()
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
  float* sums;                               // [slices, K H]: d summed over each slice's entries
  float* energy_sums;                        // [slices, F]: the gradient of v, likewise; additive
};

void attention_decoder_backward(const AttentionDecoderShape& shape, int64_t slice,
                                const AttentionDecoderBackward& at, float* scratch);

}  // namespace fovea::kernels

// On a GPU: the attention of one step, and its gradients; cell_step.h has the rest of what lies
// between a step's matrix products. With q = A h (additive; A's bias is part of the keys) or h
// itself, and t_j = tanh(q + k_j):
//   e_j = v . t_j, or scale q . k_j
//   w = softmax of e over the keys that are kept,  z = sum_j w_j m_j
//   dw_j = dz . m_j,  de_j = w_j (dw_j - w . dw)
//   dq = v sum_j de_j (1 - t_j^2), or scale sum_j de_j k_j
//   dk_j = v sum over steps of de_j (1 - t_j^2)
//   dv = sum over steps, rows and keys of de_j t_j
// t is computed anew wherever it is needed. What enters or leaves a matrix product has one type T,
// float32 or bfloat16; sums and weights are float32. A block of threads serves one row of the
// batch; everything is launched on `stream`, a cudaStream_t.
namespace fovea::kernels::device {

/// Whether a memory of this shape fits: keys and a row of it go through a block's shared memory.
bool attention_decoder_takes(const AttentionDecoderShape& shape);

struct Attend {
  NumberType type = NumberType::Float32;  // T
  const void* queries = nullptr;          // q [B, F], rows `query_row` numbers apart
  int64_t query_row = 0;
  const void *keys = nullptr, *values = nullptr;  // [B, K, F], [B, K, C]
  const float* energy = nullptr;                  // v [F]; additive
  float* weights = nullptr;                       // w [B, K]: written forward, read backward
};

/// contexts: z [B, C]. The shape's `keep` lies on the GPU.
void attend_forward(const AttentionDecoderShape& shape, const Attend& attend, void* contexts,
                    void* stream);

struct AttendGradient {
  const void* contexts = nullptr;  // dz [B, C]
  float* scores = nullptr;         // de [B, K]
  void* queries = nullptr;         // dq [B, F], additive, rows `query_row` numbers apart
  int64_t query_row = 0;
  float* hidden = nullptr;  // [B, H], not additive: dq is added to it
};

void attend_backward(const AttentionDecoderShape& shape, const Attend& attend,
                     const AttendGradient& of, void* stream);

/// Additive, after all steps. `attend` is that of step 0, a step's queries lie B query_row numbers
/// after those of the step before; scores: de [T, B, K].
/// keys: dk [B, K, F]; energy: dv of each row [B, F].
void attention_decoder_key_gradients(const AttentionDecoderShape& shape, const Attend& attend,
                                     const float* scores, float* keys, float* energy, void* stream);

}  // namespace fovea::kernels::device
