// One optimiser step over a flat array of parameters, with PyTorch's formulas and order of
// operations:
//   sgd       u = mu u + g;                    p -= lr u            (nesterov: p -= lr (g + mu u))
//   adam      m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2;  p -= lr/(1-b1^t) m /
//   (sqrt(v)/sqrt(1-b2^t) + eps) adamw     the same after p *= 1 - lr decay  (elsewhere g += decay
//   p) rmsprop   v = rho v + (1-rho) g^2;  u = mu u + g/(sqrt(v)+eps);  p -= lr u adadelta  v = rho
//   v + (1-rho) g^2;  d = g sqrt(a+eps)/sqrt(v+eps);  a = rho a + (1-rho) d^2;  p -= lr d
#pragma once

#include <cstdint>

namespace fovea::kernels {

enum class OptimiserKind { Sgd, Adam, AdamW, RmsProp, Adadelta };

struct OptimiserSettings {
  OptimiserKind kind = OptimiserKind::Adam;
  float learning_rate = 1e-3f;
  float momentum = 0;     // sgd, rmsprop
  bool nesterov = false;  // sgd
  float beta1 = 0.9f, beta2 = 0.999f;
  float rho = 0.99f;  // rmsprop, adadelta
  float epsilon = 1e-8f;
  float weight_decay = 0;
};

/// What changes from step to step; worked out by step_factors().
struct StepFactors {
  float learning_rate;
  float rate;        // adam: lr / (1 - b1^t)
  float root_scale;  // adam: 1 / sqrt(1 - b2^t)
  float shrink;      // adamw: 1 - lr decay
};

/// Steps to come, for kernels that take many of them in one call.
struct OptimiserSteps {
  OptimiserSettings settings;
  double clip_value = 0, clip_norm = 0;           // bounds of each number and of the norm; 0: none
  float *parameters, *gradient, *first, *second;  // [count]
  int64_t count;
  const StepFactors* factors;  // [steps]
};

/// `power1` is b1^t, `power2` b2^t.
StepFactors step_factors(const OptimiserSettings& settings, double power1, double power2);

/// `step` counts from 1. `first` and `second` are the state, zero before the first step: (u, -),
/// (m, v), (u, v), (a, v).
void optimiser_step(const OptimiserSettings& settings, int64_t step, float* parameters,
                    const float* gradient, float* first, float* second, int64_t count);

/// Each number into -clip_value … clip_value, then all of them shortened to the norm.
void clip_gradient(double clip_value, double clip_norm, float* gradient, int64_t count);

/// Sum of squares in double precision, for clipping; the order of additions does not depend on the
/// instruction set.
double squared_norm(const float* values, int64_t count);

}  // namespace fovea::kernels
