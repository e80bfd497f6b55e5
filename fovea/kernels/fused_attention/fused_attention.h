// Attention without the matrix of its weights: forward, backward and, where somebody asks, the
// exact weights of a few rows. For batch b, head h (key head h / (H / G)), query i, which stands
// at position p = first_query + i, and key j:
//   s_ij = scale q_i . k_j - slope_h |p - j|                       (ALiBi; no slopes: no bias)
//   visible: keep_keys[b][j], keep_queries[b][i] and band_low <= j - p <= band_high
//   a_ij = softmax of s_ij over the visible j; 0 elsewhere
//   o_i = sum_j a_ij d_ij v_j           d_ij: 1 / (1 - dropout_rate) when kept, 0 when dropped
//   lse_i = log sum_j exp(s_ij)         over the visible j
// A query that sees nothing gets o = 0, lse = -infinity and no gradient. Whatever stands at a key,
// value or query that nobody sees, NaN and infinity included, changes nothing; a query that sees a
// key or value that is not finite, or is not finite itself, gets NaN in its row of o and in lse,
// and so do in the backward pass the gradients of that query and of the keys it sees.
// Dropout is that of philox-inl.h: row (b H + h) Q + i, column j.
//
// Online softmax over tiles of keys (Milakov and Gimelshein 2018; Dao et al. 2022): memory is
// linear in Q + K. Nothing here starts a thread: the problem alone decides how the work is cut into
// slices; the caller runs them in any order, on any number of threads, with the same bits.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// How numbers lie in memory. Sums are float for Float32 and BFloat16, double for Float64; "the
/// sums' type" below means that.
enum class Element { Float32, Float64, BFloat16 };

/// A view [B, heads, rows, width]: strides in elements, the width is contiguous. A tensor
/// [B, N, H * D] seen as [B, H, N, D] is one.
struct Rows {
  const void* data;
  int64_t batch, head, row;
};
struct MutableRows {
  void* data;
  int64_t batch, head, row;
};

struct FusedAttentionProblem {
  Element element = Element::Float32;
  int64_t batch = 0;       // B
  int64_t heads = 0;       // H
  int64_t key_heads = 0;   // G, a divisor of H
  int64_t queries = 0;     // Q, may be 0
  int64_t keys = 0;        // K, may be 0
  int64_t head_size = 0;   // D, at least 1
  int64_t value_size = 0;  // Dv, at least 1
  Rows q{}, k{}, v{};      // [B, H, Q, D], [B, G, K, D], [B, G, K, Dv]
  double scale = 1;
  const uint8_t* keep_keys = nullptr;     // [B, K]; null: all
  const uint8_t* keep_queries = nullptr;  // [B, Q]; null: all
  int64_t first_query = 0;                // position of query 0
  int64_t band_low = INT64_MIN;           // causal: band_high = 0; a window: both
  int64_t band_high = INT64_MAX;
  const double* slopes = nullptr;  // [H]; null: none
  double dropout_rate = 0;         // in [0, 1)
  uint64_t dropout_key = 0;
};

/// Bytes of working memory: `scratch` belongs to one running slice, `shared` to the whole call.
struct FusedAttentionWork {
  int64_t slices;
  int64_t scratch;
  int64_t shared;
  int64_t sum_slices;  // slices of the second phase, which starts when all slices are done
};

FusedAttentionWork fused_attention_forward_work(const FusedAttentionProblem& problem);
FusedAttentionWork fused_attention_backward_work(const FusedAttentionProblem& problem);

/// Writes its slice of `out` [B, H, Q, Dv] and of `lse` [B, H, Q], of the sums' type.
void fused_attention_forward(const FusedAttentionProblem& problem, int64_t slice,
                             const MutableRows& out, void* lse, void* scratch);

struct FusedAttentionGradient {
  Rows out;         // [B, H, Q, Dv], from the forward pass
  const void* lse;  // [B, H, Q], from the forward pass
  Rows out_gradient;
  MutableRows q, k, v;  // gradients, as the problem's q, k and v; overwritten
};

/// First phase: all of k and v, and of q unless `shared` is in use.
void fused_attention_backward(const FusedAttentionProblem& problem, int64_t slice,
                              const FusedAttentionGradient& gradient, void* shared, void* scratch);

/// Second phase: q from what the slices left in `shared`. Needs the first phase's scratch.
void fused_attention_backward_sum(const FusedAttentionProblem& problem, int64_t slice,
                                  const FusedAttentionGradient& gradient, const void* shared,
                                  void* scratch);

/// Which rows of one head's weights are asked for.
struct FusedAttentionRows {
  int64_t batch, head;
  int64_t first, count;  // queries
};

/// The weights a of the asked rows, before dropout: target[i][j], rows `target_row` numbers apart,
/// of the sums' type. Values are not read. `scratch` holds fused_attention_weights_scratch() bytes.
int64_t fused_attention_weights_scratch(const FusedAttentionProblem& problem);
void fused_attention_weights(const FusedAttentionProblem& problem, const FusedAttentionRows& rows,
                             void* target, int64_t target_row, void* scratch);

}  // namespace fovea::kernels
