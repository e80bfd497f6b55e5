// Gradients against finite differences, in float64. For a scalar function of some leaves, the slope
// along random directions d (all leaves at once) is compared with <gradient, d>: two evaluations
// per direction instead of two per number, and a wrong entry of the gradient shows along almost
// every direction.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

struct GradientCheck {
  int directions = 3;
  double step = 1e-5;
  uint64_t seed = 1;
};

/// The largest |slope - <gradient, d>| / max(1, |slope|) over the directions. The leaves must be
/// float64 and require gradients.
inline double gradient_error(const std::function<at::Tensor()>& loss,
                             const std::vector<at::Tensor>& leaves,
                             const GradientCheck& check = {}) {
  const auto gradients =
      torch::autograd::grad({loss()}, leaves, {}, false, false, /*allow_unused=*/true);
  torch::NoGradGuard no_gradient;
  double worst = 0;
  for (int direction = 0; direction < check.directions; ++direction) {
    std::vector<at::Tensor> steps;
    double expected = 0;
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto random = Random(check.seed).split(static_cast<uint64_t>(direction)).split(i);
      steps.push_back(
          random.normal_tensor(leaves[i].sizes(), 0, 1, leaves[i].options().requires_grad(false)));
      if (gradients[i].defined()) expected += (gradients[i] * steps[i]).sum().item<double>();
    }
    const auto move = [&](double by) {
      for (size_t i = 0; i < leaves.size(); ++i) leaves[i].data().add_(steps[i], by);
    };
    move(check.step);
    const double above = loss().item<double>();
    move(-2 * check.step);
    const double below = loss().item<double>();
    move(check.step);
    const double slope = (above - below) / (2 * check.step);
    const double error = std::abs(slope - expected) / std::max(1.0, std::abs(slope));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

/// True when every number is finite.
inline bool all_finite(const at::Tensor& x) {
  return x.isfinite().all().item<bool>();
}

}  // namespace fovea::testing
