// The three ways through the layer of attention_decoder.h: what goes in, what the backward pass
// needs, and the passes themselves. With h the state before a step, K keys k_j and values m_j:
//   e_j = v . tanh(A h + a + k_j), or scale h . k_j;  w = softmax(e);  z = sum_j w_j m_j
//   h'  = cell(W [x ; z] + b, U h + b', h)
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "fovea/kernels/attention_decoder/attention_decoder.h"

namespace fovea {

/// Everything about a call besides its numbers.
struct AttentionDecoderPlan {
  kernels::AttentionDecoderShape shape;
  at::Tensor keep;  // uint8 [B, K], which the shape points at on a CPU, or undefined

  bool has_cell() const { return shape.cell == kernels::RecurrentCell::Lstm; }
};

/// A call's tensors in the order in which the graph knows them; those that a cell or score does not
/// have are empty. All are contiguous.
enum AttentionDecoderInput : size_t {
  kX,                // [B, T, E]
  kWeightInput,      // W [G H, E + C]
  kWeightRecurrent,  // U [G H, H]
  kBiasInput,
  kBiasRecurrent,
  kStartHidden,  // [B, H]
  kStartCell,
  kKeys,    // [B, K, F]
  kValues,  // [B, K, C]
  kQuery,   // A [F, H]
  kQueryBias,
  kEnergy,  // v [F]
  kDecoderInputs
};

struct AttentionDecoderPass {
  at::Tensor states, contexts;           // [B, T, H], [B, T, C]
  torch::autograd::tensor_list saved{};  // what the backward pass of the same kind needs
};

/// By kernels/attention_decoder, on a CPU.
AttentionDecoderPass cpu_decoder_forward(at::TensorList in, const AttentionDecoderPlan& plan);
/// One gradient per input. `arrived`: of states and contexts, or undefined.
torch::autograd::tensor_list cpu_decoder_backward(at::TensorList in, at::TensorList saved,
                                                  const AttentionDecoderPlan& plan,
                                                  const torch::autograd::tensor_list& arrived);

/// By LibTorch's operations, on any device.
AttentionDecoderPass unrolled_decoder_forward(at::TensorList in, const AttentionDecoderPlan& plan);
torch::autograd::tensor_list unrolled_decoder_backward(at::TensorList in, at::TensorList saved,
                                                       const AttentionDecoderPlan& plan,
                                                       const torch::autograd::tensor_list& arrived);

/// By kernels/attention_decoder, on a GPU, for shapes that it takes. In a bf16 scope contexts are
/// bfloat16.
bool cuda_decoder_takes(const kernels::AttentionDecoderShape& shape, const at::Tensor& x);
AttentionDecoderPass cuda_decoder_forward(at::TensorList in, const AttentionDecoderPlan& plan);
torch::autograd::tensor_list cuda_decoder_backward(at::TensorList in, at::TensorList saved,
                                                   const AttentionDecoderPlan& plan,
                                                   const torch::autograd::tensor_list& arrived);

}  // namespace fovea
