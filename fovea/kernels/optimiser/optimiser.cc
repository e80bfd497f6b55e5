#include "fovea/kernels/optimiser/optimiser.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/optimiser/optimiser-inl.h"

namespace fovea::kernels {
namespace {

void step(const OptimiserSettings& settings, const StepFactors& factors, float* parameters,
          const float* gradient, float* first, float* second, int64_t count) {
  with_kind(settings.kind, [&]<OptimiserKind kind>(Kind<kind>) {
    update_all<kind, kLanes>(settings, factors, parameters, gradient, first, second, count);
  });
}

}  // namespace

struct OptimiserTable {
  void (*step)(const OptimiserSettings&, const StepFactors&, float* parameters,
               const float* gradient, float* first, float* second, int64_t count);
};
FOVEA_TABLE(OptimiserTable, step)

}  // namespace fovea::kernels

#ifdef FOVEA_ENTRY_POINTS
#include <cmath>

namespace fovea::kernels {

StepFactors step_factors(const OptimiserSettings& settings, double power1, double power2) {
  const double rate = settings.learning_rate;
  return {settings.learning_rate, static_cast<float>(rate / (1 - power1)),
          static_cast<float>(1 / std::sqrt(1 - power2)),
          static_cast<float>(1 - rate * settings.weight_decay)};
}

void optimiser_step(const OptimiserSettings& settings, int64_t step, float* parameters,
                    const float* gradient, float* first, float* second, int64_t count) {
  const auto t = static_cast<double>(step);
  const StepFactors factors = step_factors(settings, std::pow(double(settings.beta1), t),
                                           std::pow(double(settings.beta2), t));
  table().step(settings, factors, parameters, gradient, first, second, count);
}

void clip_gradient(double clip_value, double clip_norm, float* gradient, int64_t count) {
  const auto bound = static_cast<float>(clip_value);
  if (bound > 0)  // a NaN stays one
    for (int64_t i = 0; i < count; ++i)
      gradient[i] = gradient[i] < -bound ? -bound : gradient[i] > bound ? bound : gradient[i];
  if (clip_norm <= 0) return;
  const double norm = std::sqrt(squared_norm(gradient, count));
  if (!(norm > clip_norm)) return;
  const auto scale = static_cast<float>(clip_norm / norm);
  for (int64_t i = 0; i < count; ++i) gradient[i] *= scale;
}

double squared_norm(const float* values, int64_t count) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int64_t j = 0; j < 8; ++j) sums[j] += double(values[i + j]) * values[i + j];
  for (; i < count; ++i) sums[i % 8] += double(values[i]) * values[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace fovea::kernels
#endif
