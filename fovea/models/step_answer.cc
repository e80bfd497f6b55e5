#include "fovea/models/step_answer.h"

#include "fovea/tensor/torch.h"

namespace fovea {

StepOutput answer_step(const StepInput& in, const PackedProjection& output, const at::Tensor& x,
                       const at::Tensor& weights) {
  if (in.best == 0 || !output.is_fused(x)) return {output.forward(x).log_softmax(-1), weights};
  const BestSymbols best = output.best(x, in.best, in.forbidden);
  return {best.log_probabilities, weights, best.symbols};
}

}  // namespace fovea
