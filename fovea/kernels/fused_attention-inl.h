// Body of fused attention, compiled once per instruction set: picks the element type.
#include "fovea/kernels/fused_attention_backward-inl.h"
#include "fovea/kernels/fused_attention_forward-inl.h"
#include "fovea/kernels/fused_attention_weights-inl.h"

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void fused_attention_forward(const FusedAttentionProblem& problem, int64_t part,
                             const MutableRows& out, void* lse, void* scratch) {
  if (problem.element == Element::Float64)
    return forward_part<double>(problem, part, out, lse, scratch);
  if (problem.element == Element::BFloat16)
    return forward_part<BFloat16>(problem, part, out, lse, scratch);
  forward_part<float>(problem, part, out, lse, scratch);
}

void fused_attention_backward(const FusedAttentionProblem& problem, int64_t part,
                              const FusedAttentionGradient& gradient, void* shared, void* scratch) {
  if (problem.element == Element::Float64)
    return backward_part<double>(problem, part, gradient, shared, scratch);
  if (problem.element == Element::BFloat16)
    return backward_part<BFloat16>(problem, part, gradient, shared, scratch);
  backward_part<float>(problem, part, gradient, shared, scratch);
}

void fused_attention_backward_sum(const FusedAttentionProblem& problem, int64_t part,
                                  const FusedAttentionGradient& gradient, const void* shared,
                                  void* scratch) {
  if (problem.element == Element::Float64)
    return backward_sum_part<double>(problem, part, gradient, shared, scratch);
  if (problem.element == Element::BFloat16)
    return backward_sum_part<BFloat16>(problem, part, gradient, shared, scratch);
  backward_sum_part<float>(problem, part, gradient, shared, scratch);
}

void fused_attention_weights(const FusedAttentionProblem& problem, const FusedAttentionRows& rows,
                             void* target, int64_t target_row, void* scratch) {
  if (problem.element == Element::Float64)
    return weight_rows<double>(problem, rows, target, target_row, scratch);
  if (problem.element == Element::BFloat16)
    return weight_rows<BFloat16>(problem, rows, target, target_row, scratch);
  weight_rows<float>(problem, rows, target, target_row, scratch);
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
