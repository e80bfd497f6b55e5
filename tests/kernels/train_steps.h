// For kernels that take many optimiser steps in one call: such steps, and the arrays they move.
#pragma once

#include <cmath>
#include <vector>

#include "fovea/kernels/optimiser/optimiser.h"

namespace fovea::kernels {

/// One of each kind, with everything switched on that it knows.
inline std::vector<OptimiserSettings> all_optimisers() {
  using Kind = OptimiserKind;
  return {{.kind = Kind::Sgd,
           .learning_rate = 0.05f,
           .momentum = 0.8f,
           .nesterov = true,
           .weight_decay = 0.01f},
          {.kind = Kind::Adam, .learning_rate = 0.02f, .weight_decay = 0.1f},
          {.kind = Kind::AdamW, .learning_rate = 0.02f, .weight_decay = 0.1f},
          {.kind = Kind::RmsProp, .learning_rate = 0.01f, .momentum = 0.7f, .rho = 0.9f},
          {.kind = Kind::Adadelta, .rho = 0.9f, .epsilon = 1e-6f}};
}

/// A training that goes on from `start`.
struct Course {
  OptimiserSettings settings;
  double clip_value = 0, clip_norm = 0;
  std::vector<float> parameters, gradient, first, second;
  std::vector<StepFactors> factors;
  int64_t taken = 0;

  Course(const OptimiserSettings& how, const std::vector<float>& start)
      : settings(how),
        parameters(start),
        gradient(start.size(), 99.0f),  // must be overwritten
        first(start.size(), 0.0f),
        second(start.size(), 0.0f) {}

  /// The next `count` steps for a kernel that takes them.
  OptimiserSteps next(int64_t count) {
    factors.clear();
    for (int64_t i = 0; i < count; ++i) {
      const auto t = static_cast<double>(++taken);
      factors.push_back(step_factors(settings, std::pow(double(settings.beta1), t),
                                     std::pow(double(settings.beta2), t)));
    }
    return {settings,        clip_value,   clip_norm,     parameters.data(),
            gradient.data(), first.data(), second.data(), static_cast<int64_t>(parameters.size()),
            factors.data()};
  }

  /// One step with the gradient as it is.
  void step() {
    const auto count = static_cast<int64_t>(parameters.size());
    clip_gradient(clip_value, clip_norm, gradient.data(), count);
    optimiser_step(settings, ++taken, parameters.data(), gradient.data(), first.data(),
                   second.data(), count);
  }
};

}  // namespace fovea::kernels
