// The optimisers, over one flat array: at construction all parameters of the model move into it (as
// views), and so do their gradients. Autograd then accumulates where the kernel reads, a step is
// one pass over memory, a checkpoint is three tensors, and both paths of the trainer share every
// bit of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

#include "fovea/kernels/optimiser/optimiser.h"
#include "fovea/models/model.h"
#include "fovea/training/options.h"
#include "fovea/training/schedule.h"

namespace fovea {

/// base^t, a function of t alone and cheap for steps that follow each other: all but one in kSmall
/// cost one product.
class Powers {
 public:
  explicit Powers(double base);
  double operator()(int64_t exponent);

 private:
  static constexpr int64_t kSmall = 64;
  double base_, large_ = 1;  // large_ = base^(kSmall block)
  int64_t block_ = 0;
  std::array<double, kSmall> small_;
};

class Optimiser : public BlockOptimiser {
 public:
  /// Parameters must be float32 and on one device.
  Optimiser(Model& model, const TrainingOptions& options, int64_t steps_per_epoch);

  float* parameters() { return parameters_.data_ptr<float>(); }
  float* gradient() { return gradient_.data_ptr<float>(); }

  void step();  // clips, follows the schedule, updates the parameters
  kernels::OptimiserSteps next_steps(int64_t count) override;

  void zero_gradient() { gradient_.zero_(); }
  int64_t steps() const { return steps_; }
  double last_rate() const {
    return steps_ > 0 ? schedule_.rate(steps_) : 0;
  }  // of the newest step
  Schedule& schedule() { return schedule_; }

  // The state that a checkpoint keeps.
  const at::Tensor& flat() const { return parameters_; }
  const at::Tensor& first() const { return first_; }
  const at::Tensor& second() const { return second_; }
  void restore(int64_t steps, const at::Tensor& first, const at::Tensor& second);

  /// Forgets the moments: the next step is the first again for all but the schedule.
  void restart();
  int64_t restarted_at() const { return restarted_at_; }
  void set_restarted_at(int64_t steps) { restarted_at_ = steps; }

 private:
  /// Neighbouring parameters that follow one rule: [begin, end) of the flat arrays.
  struct Stretch {
    int64_t begin, end;
    ParameterRule rule;
  };
  void clip();
  kernels::OptimiserSettings settings_for(const Stretch& stretch) const;
  /// The kernel's formulas for a device that is not the CPU, all stretches at once.
  void step_with_tensors();
  bool steps_fused() const;
  void step_fused();  // LibTorch 2 on a GPU
  void spread_rules();

  TrainingOptions options_;
  Schedule schedule_;
  kernels::OptimiserSettings settings_;
  at::Tensor parameters_, gradient_, first_, second_;  // [P]
  std::vector<Stretch> stretches_;
  at::Tensor rates_, decays_;  // the rules for step_with_tensors: [P], or [1] where all are alike
  at::Tensor excess_;          // on a GPU: norm / clip_norm of the gradient, at least 1
  int64_t steps_ = 0, restarted_at_ = 0;
  Powers powers1_, powers2_;                   // of the betas
  std::vector<kernels::StepFactors> factors_;  // of the newest next_steps()
};

}  // namespace fovea
