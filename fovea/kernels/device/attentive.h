// A look at the memory in a step of attentive_recurrent.h on a GPU, and its gradients; cells.h has
// the rest of what lies between a step's matrix products. With q = A h (additive; A's bias is part
// of the keys) or h itself, and t_j = tanh(q + k_j):
//   e_j = v . t_j, or scale q . k_j
//   w = softmax of e over the keys that are kept,  z = sum_j w_j m_j
//   dw_j = dz . m_j,  de_j = w_j (dw_j - w . dw)
//   dq = v sum_j de_j (1 - t_j^2), or scale sum_j de_j k_j
//   dk_j = v sum over steps of de_j (1 - t_j^2)
//   dv = sum over steps, rows and keys of de_j t_j
// t is computed anew wherever it is needed. What enters or leaves a matrix product has one type T,
// float32 or bfloat16; sums and weights are float32. nn/attentive_unrolled.cc has the same in
// readable form. A block of threads serves one row of the batch; everything is launched on
// `stream`.
#pragma once

#include "fovea/kernels/attentive_recurrent.h"
#include "fovea/kernels/device/number_type.h"

namespace fovea::kernels::device {

/// Whether a memory of this shape fits: keys and a row of it go through a block's shared memory.
bool attentive_takes(const AttentiveShape& shape);

struct AttentiveLook {
  NumberType type = NumberType::Float32;  // T
  const void* queries = nullptr;          // q [B, F], rows `query_row` numbers apart
  int64_t query_row = 0;
  const void *keys = nullptr, *values = nullptr;  // [B, K, F], [B, K, C]
  const float* energy = nullptr;                  // v [F]; additive
  float* weights = nullptr;                       // w [B, K]: written forward, read backward
};

/// contexts: z [B, C]. The shape's `keep` lies on the GPU.
void attentive_look_forward(const AttentiveShape& shape, const AttentiveLook& look, void* contexts,
                            void* stream);

struct AttentiveLookGradient {
  const void* contexts = nullptr;  // dz [B, C]
  float* scores = nullptr;         // de [B, K]
  void* queries = nullptr;         // dq [B, F], additive, rows `query_row` numbers apart
  int64_t query_row = 0;
  float* hidden = nullptr;  // [B, H], not additive: dq is added to it
};

void attentive_look_backward(const AttentiveShape& shape, const AttentiveLook& look,
                             const AttentiveLookGradient& of, void* stream);

/// Additive, after all steps. `look` is that of step 0, a step's queries lie B query_row numbers
/// after those of the step before; scores: de [T, B, K].
/// keys: dk [B, K, F]; energy: dv of each row [B, F].
void attentive_key_gradients(const AttentiveShape& shape, const AttentiveLook& look,
                             const float* scores, float* keys, float* energy, void* stream);

}  // namespace fovea::kernels::device
