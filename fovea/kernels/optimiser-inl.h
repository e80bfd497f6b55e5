// Body of optimiser_step, compiled once per instruction set. See optimiser.h for the formulas.
#include "fovea/kernels/optimiser_lanes-inl.h"

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void optimiser_step(const OptimiserSettings& settings, const StepFactors& factors,
                    float* parameters, const float* gradient, float* first, float* second,
                    int64_t count) {
  with_kind(settings.kind, [&]<OptimiserKind kind>(Kind<kind>) {
    update_all<kind, kLanes>(settings, factors, parameters, gradient, first, second, count);
  });
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
