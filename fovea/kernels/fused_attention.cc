#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/fused_attention-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                                       \
  namespace set {                                                                                \
  void fused_attention_forward(const FusedAttentionProblem&, int64_t, const MutableRows&, void*, \
                               void*);                                                           \
  void fused_attention_backward(const FusedAttentionProblem&, int64_t,                           \
                                const FusedAttentionGradient&, void*, void*);                    \
  void fused_attention_backward_sum(const FusedAttentionProblem&, int64_t,                       \
                                    const FusedAttentionGradient&, const void*, void*);          \
  void fused_attention_weights(const FusedAttentionProblem&, const FusedAttentionRows&, void*,   \
                               int64_t, void*);                                                  \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
#undef FOVEA_DECLARE
#endif

namespace {

int64_t sum_bytes(const FusedAttentionProblem& problem) {
  return problem.element == Element::Float64 ? sizeof(double) : sizeof(float);
}

/// What `Buffers` takes, without taking it.
template <template <class> class Buffers, class... Arguments>
int64_t bytes_of(const FusedAttentionProblem& problem, const Arguments&... arguments) {
  Arena arena(nullptr);
  if (problem.element == Element::Float64) {
    Buffers<double>(arena, arguments...);
  } else {
    Buffers<float>(arena, arguments...);
  }
  return arena.bytes();
}

}  // namespace

FusedAttentionWork fused_attention_forward_work(const FusedAttentionProblem& problem) {
  const ForwardPlan plan = forward_plan(problem);
  return {plan.bundles.parts,
          bytes_of<ForwardBuffers>(problem, problem, Widths(problem), plan.chunk), 0, 0};
}

FusedAttentionWork fused_attention_backward_work(const FusedAttentionProblem& problem) {
  const BackwardPlan plan = backward_plan(problem);
  const int64_t rows = problem.batch * problem.heads;
  const bool split = plan.splits > 1;
  return {plan.bundles.parts, bytes_of<BackwardBuffers>(problem, problem, Widths(problem)),
          split ? rows * plan.splits * query_sums(problem) * sum_bytes(problem) : 0,
          split ? rows * blocks_of(problem.queries, kTile) : 0};
}

int64_t fused_attention_weights_scratch(const FusedAttentionProblem& problem) {
  return bytes_of<WeightBuffers>(problem, Widths(problem));
}

void fused_attention_forward(const FusedAttentionProblem& problem, int64_t part,
                             const MutableRows& out, void* lse, void* scratch) {
  FOVEA_PICK(fused_attention_forward)(problem, part, out, lse, scratch);
}

void fused_attention_backward(const FusedAttentionProblem& problem, int64_t part,
                              const FusedAttentionGradient& gradient, void* shared, void* scratch) {
  FOVEA_PICK(fused_attention_backward)(problem, part, gradient, shared, scratch);
}

void fused_attention_backward_sum(const FusedAttentionProblem& problem, int64_t part,
                                  const FusedAttentionGradient& gradient, const void* shared,
                                  void* scratch) {
  FOVEA_PICK(fused_attention_backward_sum)(problem, part, gradient, shared, scratch);
}

void fused_attention_weights(const FusedAttentionProblem& problem, const FusedAttentionRows& rows,
                             void* target, int64_t target_row, void* scratch) {
  FOVEA_PICK(fused_attention_weights)(problem, rows, target, target_row, scratch);
}

}  // namespace fovea::kernels
