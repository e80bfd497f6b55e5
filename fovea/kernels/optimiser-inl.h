// Body of optimiser_step, compiled once per instruction set. See optimiser.h for the formulas.
#include "fovea/kernels/lanes-inl.h"
#include "fovea/kernels/optimiser.h"

namespace {

inline Lanes square_root(Lanes x) {
  Lanes root;
  for (int64_t i = 0; i < kLanes; ++i) root[i] = __builtin_sqrtf(x[i]);
  return root;
}

/// What a step needs besides the arrays, worked out once.
struct Step {
  const fovea::kernels::OptimiserSettings& s;
  float rate;        // adam: lr / (1 - b1^t)
  float root_scale;  // adam: 1 / sqrt(1 - b2^t)
  float shrink;      // adamw: 1 - lr decay
};

template <fovea::kernels::OptimiserKind kind>
inline void update(const Step& step, Lanes& p, Lanes g, Lanes& first, Lanes& second) {
  using Kind = fovea::kernels::OptimiserKind;
  const auto& s = step.s;
  if constexpr (kind == Kind::AdamW)
    p *= all(step.shrink);
  else
    g += all(s.weight_decay) * p;
  if constexpr (kind == Kind::Sgd) {
    first = all(s.momentum) * first + g;
    p -= all(s.learning_rate) * (s.nesterov ? g + all(s.momentum) * first : first);
  } else if constexpr (kind == Kind::Adam || kind == Kind::AdamW) {
    first = all(s.beta1) * first + all(1 - s.beta1) * g;
    second = all(s.beta2) * second + all(1 - s.beta2) * g * g;
    p -= all(step.rate) * first / (square_root(second) * all(step.root_scale) + all(s.epsilon));
  } else if constexpr (kind == Kind::RmsProp) {
    second = all(s.rho) * second + all(1 - s.rho) * g * g;
    first = all(s.momentum) * first + g / (square_root(second) + all(s.epsilon));
    p -= all(s.learning_rate) * first;
  } else {
    second = all(s.rho) * second + all(1 - s.rho) * g * g;
    const Lanes delta =
        g * square_root(first + all(s.epsilon)) / square_root(second + all(s.epsilon));
    first = all(s.rho) * first + all(1 - s.rho) * delta * delta;
    p -= all(s.learning_rate) * delta;
  }
}

template <fovea::kernels::OptimiserKind kind>
void run(const Step& step, float* parameters, const float* gradient, float* first, float* second,
         int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Lanes p = load(parameters + i), u = load(first + i), v = load(second + i);
    update<kind>(step, p, load(gradient + i), u, v);
    store(parameters + i, p), store(first + i, u), store(second + i, v);
  }
  if (i == count) return;
  Lanes p{}, g{}, u{}, v{};
  const uint64_t rest = static_cast<uint64_t>(count - i) * sizeof(float);
  __builtin_memcpy(&p, parameters + i, rest), __builtin_memcpy(&g, gradient + i, rest);
  __builtin_memcpy(&u, first + i, rest), __builtin_memcpy(&v, second + i, rest);
  update<kind>(step, p, g, u, v);
  __builtin_memcpy(parameters + i, &p, rest), __builtin_memcpy(first + i, &u, rest),
      __builtin_memcpy(second + i, &v, rest);
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void optimiser_step(const OptimiserSettings& settings, int64_t count_of_steps, float* parameters,
                    const float* gradient, float* first, float* second, int64_t count) {
  const double correction1 = 1 - __builtin_pow(settings.beta1, static_cast<double>(count_of_steps));
  const double correction2 = 1 - __builtin_pow(settings.beta2, static_cast<double>(count_of_steps));
  const Step step{
      settings, static_cast<float>(settings.learning_rate / correction1),
      static_cast<float>(1 / __builtin_sqrt(correction2)),
      static_cast<float>(1 - static_cast<double>(settings.learning_rate) * settings.weight_decay)};
  switch (settings.kind) {
    case OptimiserKind::Sgd:
      return run<OptimiserKind::Sgd>(step, parameters, gradient, first, second, count);
    case OptimiserKind::Adam:
      return run<OptimiserKind::Adam>(step, parameters, gradient, first, second, count);
    case OptimiserKind::AdamW:
      return run<OptimiserKind::AdamW>(step, parameters, gradient, first, second, count);
    case OptimiserKind::RmsProp:
      return run<OptimiserKind::RmsProp>(step, parameters, gradient, first, second, count);
    case OptimiserKind::Adadelta:
      return run<OptimiserKind::Adadelta>(step, parameters, gradient, first, second, count);
  }
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
