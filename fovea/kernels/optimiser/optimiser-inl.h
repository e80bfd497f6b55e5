// One optimiser step in registers, for the optimiser itself and for kernels that take many steps in
// one call. See optimiser.h for the formulas.
#pragma once

#include "fovea/kernels/optimiser/optimiser.h"
#include "fovea/kernels/simd.h"

namespace fovea::kernels {
namespace {

template <class Vector>
inline Vector square_root(Vector x) {
  Vector root;
  for (uint64_t i = 0; i < sizeof x / sizeof x[0]; ++i) root[i] = __builtin_sqrtf(x[i]);
  return root;
}

/// The formulas on a vector.
template <OptimiserKind kind, class Vector>
inline void update(const OptimiserSettings& s, const StepFactors& step, Vector& p, Vector g,
                   Vector& first, Vector& second) {
  if constexpr (kind == OptimiserKind::AdamW)
    p *= step.shrink;
  else
    g += s.weight_decay * p;
  if constexpr (kind == OptimiserKind::Sgd) {
    first = s.momentum * first + g;
    p -= step.learning_rate * (s.nesterov ? g + s.momentum * first : first);
  } else if constexpr (kind == OptimiserKind::Adam || kind == OptimiserKind::AdamW) {
    first = s.beta1 * first + (1 - s.beta1) * g;
    second = s.beta2 * second + (1 - s.beta2) * g * g;
    p -= step.rate * first / (square_root(second) * step.root_scale + s.epsilon);
  } else if constexpr (kind == OptimiserKind::RmsProp) {
    second = s.rho * second + (1 - s.rho) * g * g;
    first = s.momentum * first + g / (square_root(second) + s.epsilon);
    p -= step.learning_rate * first;
  } else {
    second = s.rho * second + (1 - s.rho) * g * g;
    const Vector delta = g * square_root(first + s.epsilon) / square_root(second + s.epsilon);
    first = s.rho * first + (1 - s.rho) * delta * delta;
    p -= step.learning_rate * delta;
  }
}

// Fewer numbers than a step: the rest reads as 0 and is not written. One number goes without the
// detour through memory.
template <int64_t kStep>
inline Vector<kStep> load(const float* from, int64_t count) {
  if (count == 1) return Vector<kStep>{from[0]};
  Vector<kStep> step{};
  __builtin_memcpy(&step, from, static_cast<uint64_t>(count) * sizeof(float));
  return step;
}
template <int64_t kStep>
inline void store(float* to, Vector<kStep> step, int64_t count) {
  to[0] = step[0];
  if (count == 1) return;
  const Vector<kStep> copy = step;
  __builtin_memcpy(to, &copy, static_cast<uint64_t>(count) * sizeof(float));
}

/// The same on arrays, kStep > 1 numbers at a time; a number is updated alike wherever it lies.
template <OptimiserKind kind, int64_t kStep>
inline void update_all(const OptimiserSettings& settings, const StepFactors& step,
                       float* parameters, const float* gradient, float* first, float* second,
                       int64_t count) {
  const auto update_at = [&](int64_t i, auto... few) {
    auto p = load<kStep>(parameters + i, few...), u = load<kStep>(first + i, few...),
         v = load<kStep>(second + i, few...);
    update<kind>(settings, step, p, load<kStep>(gradient + i, few...), u, v);
    store<kStep>(parameters + i, p, few...);
    store<kStep>(first + i, u, few...);
    store<kStep>(second + i, v, few...);
  };
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) update_at(i);
  if (i < count) update_at(i, count - i);
}

template <OptimiserKind kind, int64_t kStep = kLanes>
inline void take_step(const OptimiserSteps& steps, int64_t step) {
  if (steps.clip_value > 0 || steps.clip_norm > 0)
    fovea::kernels::clip_gradient(steps.clip_value, steps.clip_norm, steps.gradient, steps.count);
  update_all<kind, kStep>(steps.settings, steps.factors[step], steps.parameters, steps.gradient,
                          steps.first, steps.second, steps.count);
}

/// Calls work(Kind<kind>{}) for the settings' kind: one choice for many steps.
template <OptimiserKind kind>
struct Kind {};
template <class Work>
inline auto with_kind(OptimiserKind kind, Work work) {
  switch (kind) {
    case OptimiserKind::Sgd:
      return work(Kind<OptimiserKind::Sgd>{});
    case OptimiserKind::AdamW:
      return work(Kind<OptimiserKind::AdamW>{});
    case OptimiserKind::RmsProp:
      return work(Kind<OptimiserKind::RmsProp>{});
    case OptimiserKind::Adadelta:
      return work(Kind<OptimiserKind::Adadelta>{});
    case OptimiserKind::Adam:
      break;
  }
  return work(Kind<OptimiserKind::Adam>{});
}

}  // namespace
}  // namespace fovea::kernels
