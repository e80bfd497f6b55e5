// Body of fused attention, compiled once per instruction set: picks the element type.
#include "fovea/kernels/fused_attention/fused_attention.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/fused_attention/backward-inl.h"
#include "fovea/kernels/fused_attention/forward-inl.h"
#include "fovea/kernels/fused_attention/weights-inl.h"

namespace fovea::kernels {
namespace {

/// work() with the type of the problem's elements.
template <class Work>
void with_element(const FusedAttentionProblem& problem, const Work& work) {
  if (problem.element == Element::Float64) return work.template operator()<double>();
  if (problem.element == Element::BFloat16) return work.template operator()<BFloat16>();
  work.template operator()<float>();
}

void forward(const FusedAttentionProblem& problem, int64_t slice, const MutableRows& out, void* lse,
             void* scratch) {
  with_element(problem, [&]<class T>() { forward_slice<T>(problem, slice, out, lse, scratch); });
}

void backward(const FusedAttentionProblem& problem, int64_t slice,
              const FusedAttentionGradient& gradient, void* shared, void* scratch) {
  with_element(problem,
               [&]<class T>() { backward_slice<T>(problem, slice, gradient, shared, scratch); });
}

void backward_sum(const FusedAttentionProblem& problem, int64_t slice,
                  const FusedAttentionGradient& gradient, const void* shared, void* scratch) {
  with_element(problem, [&]<class T>() {
    backward_sum_slice<T>(problem, slice, gradient, shared, scratch);
  });
}

void weights(const FusedAttentionProblem& problem, const FusedAttentionRows& rows, void* target,
             int64_t target_row, void* scratch) {
  with_element(problem,
               [&]<class T>() { weight_rows<T>(problem, rows, target, target_row, scratch); });
}

}  // namespace

struct FusedAttentionTable {
  decltype(&fused_attention_forward) forward;
  decltype(&fused_attention_backward) backward;
  decltype(&fused_attention_backward_sum) backward_sum;
  decltype(&fused_attention_weights) weights;
};
FOVEA_TABLE(FusedAttentionTable, forward, backward, backward_sum, weights)

#ifdef FOVEA_ENTRY_POINTS

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
  return {plan.bundles.slices,
          bytes_of<ForwardBuffers>(problem, problem, Widths(problem), plan.chunk), 0, 0};
}

FusedAttentionWork fused_attention_backward_work(const FusedAttentionProblem& problem) {
  const BackwardPlan plan = backward_plan(problem);
  const int64_t rows = problem.batch * problem.heads;
  const bool split = plan.splits > 1;
  return {plan.bundles.slices, bytes_of<BackwardBuffers>(problem, problem, Widths(problem)),
          split ? rows * plan.splits * query_sums(problem) * sum_bytes(problem) : 0,
          split ? rows * ceil_div(problem.queries, kTile) : 0};
}

int64_t fused_attention_weights_scratch(const FusedAttentionProblem& problem) {
  return bytes_of<WeightBuffers>(problem, Widths(problem));
}

void fused_attention_forward(const FusedAttentionProblem& problem, int64_t slice,
                             const MutableRows& out, void* lse, void* scratch) {
  table().forward(problem, slice, out, lse, scratch);
}

void fused_attention_backward(const FusedAttentionProblem& problem, int64_t slice,
                              const FusedAttentionGradient& gradient, void* shared, void* scratch) {
  table().backward(problem, slice, gradient, shared, scratch);
}

void fused_attention_backward_sum(const FusedAttentionProblem& problem, int64_t slice,
                                  const FusedAttentionGradient& gradient, const void* shared,
                                  void* scratch) {
  table().backward_sum(problem, slice, gradient, shared, scratch);
}

void fused_attention_weights(const FusedAttentionProblem& problem, const FusedAttentionRows& rows,
                             void* target, int64_t target_row, void* scratch) {
  table().weights(problem, rows, target, target_row, scratch);
}

#endif

}  // namespace fovea::kernels
